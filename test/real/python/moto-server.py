"""moto, with what the stack of infra/ needs and moto lacks, so that its template is deployed as it is (docs/maintainers/deploy-emulator.md)."""

import json

from moto.core.config import default_user_config

# Functions run in stand-ins of Lambda, not in Docker (test/real/lambda).
default_user_config["lambda"]["use_docker"] = False

from moto.awslambda.models import LambdaVersion  # noqa: E402
from moto.awslambda.utils import get_backend  # noqa: E402
from moto.core.common_models import CloudFormationModel  # noqa: E402
from moto.events.utils import EventTemplateParser  # noqa: E402
from moto.secretsmanager.models import secretsmanager_backends  # noqa: E402
from moto.server import main  # noqa: E402
from moto.sqs.models import sqs_backends  # noqa: E402


class Secret(CloudFormationModel):
    __module__ = "moto.secretsmanager.models"  # moto reads the service from it

    def __init__(self, arn):
        self.physical_resource_id = arn

    @staticmethod
    def cloudformation_type():
        return "AWS::SecretsManager::Secret"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **_kwargs):
        properties = cloudformation_json["Properties"]
        backend = secretsmanager_backends[account_id][region_name]
        wanted = properties["GenerateSecretString"]
        answer = backend.get_random_password(
            password_length=int(wanted.get("PasswordLength", 32)),
            exclude_characters=wanted.get("ExcludeCharacters", ""),
            exclude_numbers=wanted.get("ExcludeNumbers", False),
            exclude_punctuation=wanted.get("ExcludePunctuation", False),
            exclude_uppercase=wanted.get("ExcludeUppercase", False),
            exclude_lowercase=wanted.get("ExcludeLowercase", False),
            include_space=wanted.get("IncludeSpace", False),
            require_each_included_type=wanted.get("RequireEachIncludedType", True),
        )
        created = backend.create_secret(
            name=properties.get("Name", resource_name),
            secret_string=json.loads(answer)["RandomPassword"],
            secret_binary=None,
            description=properties.get("Description"),
            tags=properties.get("Tags"),
            kms_key_id=properties.get("KmsKeyId"),
            client_request_token=None,
            replica_regions=[],
            force_overwrite=False,
        )
        return cls(json.loads(created)["ARN"])


class Alias(CloudFormationModel):
    __module__ = "moto.awslambda.models"

    def __init__(self, arn):
        self.physical_resource_id = arn

    @staticmethod
    def cloudformation_type():
        return "AWS::Lambda::Alias"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **_kwargs):
        properties = cloudformation_json["Properties"]
        alias = get_backend(account_id, region_name).create_alias(
            properties["Name"], properties["FunctionName"], properties["FunctionVersion"], "", None
        )
        return cls(alias.arn)


class QueuePolicy(CloudFormationModel):
    __module__ = "moto.sqs.models"

    def __init__(self, name):
        self.physical_resource_id = name

    @staticmethod
    def cloudformation_type():
        return "AWS::SQS::QueuePolicy"

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **_kwargs):
        properties = cloudformation_json["Properties"]
        for url in properties["Queues"]:
            policy = json.dumps(properties["PolicyDocument"])
            sqs_backends[account_id][region_name].set_queue_attributes(url.split("/")[-1], {"Policy": policy})
        return cls(resource_name)


# What an alias asks of a version.
LambdaVersion.get_cfn_attribute = lambda version, _name: str(version.version)

# Where a target has no transformer, moto drops the account of an event.
EventTemplateParser.DEFAULT_EVENT_INPUT_TEMPLATE = EventTemplateParser.DEFAULT_EVENT_INPUT_TEMPLATE.replace(
    "{", '{"account": "<account>", ', 1
)

main()
