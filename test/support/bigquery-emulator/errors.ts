/** Errors in the format of BigQuery's REST API. */

export type Reason =
  | 'invalid'
  | 'invalidQuery'
  | 'invalidUser'
  | 'required'
  | 'parseError'
  | 'notFound'
  | 'duplicate'
  | 'accessDenied'
  | 'authError'
  | 'bytesBilledLimitExceeded'
  | 'rateLimitExceeded'
  | 'quotaExceeded'
  | 'backendError'
  | 'internalError'
  | 'stopped'
  | 'timeout';

const CODES: Readonly<Record<Reason, number>> = {
  invalid: 400,
  invalidQuery: 400,
  invalidUser: 400,
  required: 400,
  parseError: 400,
  notFound: 404,
  duplicate: 409,
  accessDenied: 403,
  authError: 401,
  bytesBilledLimitExceeded: 400,
  rateLimitExceeded: 403,
  quotaExceeded: 403,
  backendError: 503,
  internalError: 500,
  stopped: 200,
  timeout: 400,
};

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ALREADY_EXISTS',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** `location` is the subject of the error, `query` for SQL. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: Reason;
  readonly location: string | undefined;

  constructor(reason: Reason, message: string, location?: string) {
    super(message);
    this.reason = reason;
    this.location = location;
  }

  get code(): number {
    return CODES[this.reason];
  }

  /** The format in a job. */
  get proto(): { readonly reason: Reason; readonly message: string; readonly location?: string } {
    return { reason: this.reason, ...(this.location === undefined ? {} : { location: this.location }), message: this.message };
  }

  /** The format in an error response. */
  body(): object {
    const locationType = this.reason === 'authError' ? 'header' : 'parameter';
    const where = this.location === undefined ? {} : { location: this.location, locationType };
    const message = this.reason === 'authError' ? 'Invalid Credentials' : this.message;
    return {
      error: {
        code: this.code,
        message: this.message,
        errors: [{ message, domain: 'global', reason: this.reason, ...where }],
        status: STATUSES[this.code] ?? 'UNKNOWN',
      },
    };
  }
}

export const invalidQuery = (message: string): ApiError => new ApiError('invalidQuery', message, 'query');
