/** Invalid settings: the service cannot start. The message is shown to the user unchanged. */
export class ConfigError extends Error {
  constructor(reason: string) {
    super(`Fatal Error: ${reason}`);
    this.name = 'ConfigError';
  }

  /** Uses the message without the usual prefix. */
  static complete(message: string): ConfigError {
    const error = new ConfigError('');
    error.message = message;
    return error;
  }
}

/** Invalid environment variable. */
export class EnvironmentError extends ConfigError {
  constructor(variable: string, reason: string) {
    super(reason);
    this.name = 'EnvironmentError';
    this.message = `Fatal Error:- Environment variable ${variable}: ${reason}`;
  }
}
