import fc from "fast-check";

// A property that has thousands of cases would have them again for each mutant; what fails need not be made small.
fc.configureGlobal({ interruptAfterTimeLimit: 500, endOnFailure: true });
