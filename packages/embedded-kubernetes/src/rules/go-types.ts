/**
 * Fields of the server's internal Go types, in their order, for the few messages that print whole structs. After a
 * field stands what Go prints when it is not set: nothing for null, `""`, `0`, `false`, or `{}` for a nested struct.
 * `NAME=TYPE` names the struct that a field holds, so that its fields come in order too; `name>NAME` a field whose
 * API name is not the Go name with a small first letter.
 */
export const goTypes: Readonly<Record<string, string>> = {
  PodSpec:
    'Volumes=Volume InitContainers=Container Containers=Container EphemeralContainers RestartPolicy"" TerminationGracePeriodSeconds ActiveDeadlineSeconds dnsPolicy>DNSPolicy"" NodeSelector ServiceAccountName"" AutomountServiceAccountToken NodeName"" SecurityContext=PodSecurityContext ImagePullSecrets=LocalObjectReference Hostname"" Subdomain"" setHostnameAsFQDN>SetHostnameAsFQDN Affinity SchedulerName"" Tolerations=Toleration HostAliases PriorityClassName"" Priority PreemptionPolicy dnsConfig>DNSConfig ReadinessGates RuntimeClassName Overhead EnableServiceLinks TopologySpreadConstraints os>OS SchedulingGates ResourceClaims Resources HostnameOverride WorkloadRef',
  Container:
    'Name"" Image"" Command Args WorkingDir"" Ports=ContainerPort EnvFrom=EnvFromSource Env=EnvVar Resources={}ResourceRequirements ResizePolicy RestartPolicy RestartPolicyRules VolumeMounts=VolumeMount VolumeDevices LivenessProbe=Probe ReadinessProbe=Probe StartupProbe=Probe Lifecycle TerminationMessagePath"" TerminationMessagePolicy"" ImagePullPolicy"" SecurityContext=SecurityContext Stdin:false StdinOnce:false tty>TTY:false',
  ContainerPort: 'Name"" HostPort:0 ContainerPort:0 Protocol"" hostIP>HostIP""',
  EnvVar: 'Name"" Value"" ValueFrom=EnvVarSource',
  EnvVarSource:
    "FieldRef=ObjectFieldSelector ResourceFieldRef ConfigMapKeyRef=KeySelector SecretKeyRef=KeySelector FileKeyRef",
  KeySelector: 'Name"" Key"" Optional',
  EnvFromSource: 'Prefix"" ConfigMapRef=EnvSource SecretRef=EnvSource',
  EnvSource: 'Name"" Optional',
  ResourceRequirements: "Limits Requests Claims",
  VolumeMount: 'Name"" ReadOnly:false RecursiveReadOnly MountPath"" SubPath"" MountPropagation SubPathExpr""',
  Probe:
    "Exec=ExecAction httpGet>HTTPGet=HTTPGetAction tcpSocket>TCPSocket=TCPSocketAction grpc>GRPC InitialDelaySeconds:0 TimeoutSeconds:0 PeriodSeconds:0 SuccessThreshold:0 FailureThreshold:0 TerminationGracePeriodSeconds",
  ExecAction: "Command",
  HTTPGetAction: 'Path"" Port:0 Host"" Scheme"" httpHeaders>HTTPHeaders',
  TCPSocketAction: 'Port:0 Host""',
  SecurityContext:
    "Capabilities=Capabilities Privileged seLinuxOptions>SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot ReadOnlyRootFilesystem AllowPrivilegeEscalation ProcMount SeccompProfile=SeccompProfile AppArmorProfile",
  Capabilities: "Add Drop",
  SeccompProfile: 'Type"" LocalhostProfile',
  PodSecurityContext:
    "HostNetwork:false hostPID>HostPID:false hostIPC>HostIPC:false ShareProcessNamespace HostUsers seLinuxOptions>SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy fsGroup>FSGroup fsGroupChangePolicy>FSGroupChangePolicy Sysctls SeccompProfile=SeccompProfile AppArmorProfile seLinuxChangePolicy>SELinuxChangePolicy",
  LocalObjectReference: 'Name""',
  Toleration: 'Key"" Operator"" Value"" Effect"" TolerationSeconds',
  Volume:
    'Name"" HostPath=HostPathVolumeSource EmptyDir=EmptyDirVolumeSource gcePersistentDisk>GCEPersistentDisk awsElasticBlockStore>AWSElasticBlockStore GitRepo Secret=SecretVolumeSource nfs>NFS iscsi>ISCSI Glusterfs PersistentVolumeClaim=ClaimVolumeSource rbd>RBD Quobyte FlexVolume Cinder cephfs>CephFS Flocker downwardAPI>DownwardAPI=DownwardAPIProjection fc>FC AzureFile ConfigMap=ConfigMapVolumeSource VsphereVolume AzureDisk PhotonPersistentDisk Projected=ProjectedVolumeSource PortworxVolume scaleIO>ScaleIO storageos>StorageOS csi>CSI Ephemeral Image',
  HostPathVolumeSource: 'Path"" Type',
  EmptyDirVolumeSource: 'Medium"" SizeLimit',
  SecretVolumeSource: 'SecretName"" Items=KeyToPath DefaultMode Optional',
  ConfigMapVolumeSource: 'Name"" Items=KeyToPath DefaultMode Optional',
  ProjectedVolumeSource: "Sources=VolumeProjection DefaultMode",
  VolumeProjection:
    "Secret=SecretProjection DownwardAPI=DownwardAPIProjection ConfigMap=SecretProjection ServiceAccountToken=ServiceAccountTokenProjection ClusterTrustBundle PodCertificate",
  SecretProjection: 'Name"" Items=KeyToPath Optional',
  DownwardAPIProjection: "Items=DownwardAPIVolumeFile",
  DownwardAPIVolumeFile: 'Path"" FieldRef=ObjectFieldSelector ResourceFieldRef Mode',
  ObjectFieldSelector: 'apiVersion>APIVersion"" FieldPath""',
  ServiceAccountTokenProjection: 'Audience"" ExpirationSeconds:0 Path""',
  KeyToPath: 'Key"" Path"" Mode',
  ClaimVolumeSource: 'ClaimName"" ReadOnly:false',
  PersistentVolumeClaimSpec:
    'AccessModes Selector Resources={}VolumeResourceRequirements VolumeName"" StorageClassName VolumeMode DataSource=TypedReference DataSourceRef=TypedReference VolumeAttributesClassName',
  VolumeResourceRequirements: "Limits Requests",
  TypedReference: 'apiGroup>APIGroup Kind"" Name"" Namespace',
};
