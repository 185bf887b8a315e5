import { isUtf8 } from 'node:buffer';
import { SvcError } from '../errors/svc-error.ts';
import { parametersOf } from './parameters.ts';

/** Limits for forms, which are for a few short fields; larger data should be JSON, which takes a tenth of the time. */
const MAX_BYTES = 1_048_576;
const MAX_FIELDS = 1000;
const AMPERSAND = 0x26;

/** Returns true if the `Content-Type` is that of a form. */
export function isForm(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType);
}

/** Returns the fields of a form. @throws SvcError bad-request if it is too large, or its encoding is invalid */
export function decodeForm(body: Buffer): URLSearchParams {
  if (body.length > MAX_BYTES) throw tooLarge(`${MAX_BYTES} bytes`);
  let fields = 1;
  for (let i = body.indexOf(AMPERSAND); i >= 0; i = body.indexOf(AMPERSAND, i + 1)) {
    fields += 1;
    if (fields > MAX_FIELDS) throw tooLarge(`${MAX_FIELDS} fields`);
  }
  const found = isUtf8(body) ? parametersOf(body.toString('utf8')) : null;
  if (found === null) throw new SvcError('bad-request', 'the form has an invalid encoding: it must be UTF-8, with percent signs as %25');
  return found;
}

function tooLarge(limit: string): SvcError {
  return new SvcError('bad-request', `a form may have at most ${limit}; JSON may be larger`, { status: 413 });
}
