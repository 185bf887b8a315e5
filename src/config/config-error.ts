/** The service cannot start with these settings. The message is complete and goes to the user as it is. */
export class ConfigError extends Error {
  constructor(reason: string) {
    super(`Fatal Error: ${reason}`);
    this.name = 'ConfigError';
  }

  /** With a text that has a beginning of its own. */
  static complete(message: string): ConfigError {
    const error = new ConfigError('');
    error.message = message;
    return error;
  }
}

/** A setting that came from the environment. */
export class EnvironmentError extends ConfigError {
  constructor(variable: string, reason: string) {
    super(reason);
    this.name = 'EnvironmentError';
    this.message = `Fatal Error:- Environment variable ${variable}: ${reason}`;
  }
}
