import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { encodeAdminError, printGraphqlErrors } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { CompressedCopies } from '../pipeline/response-cache.ts';
import { type Body, bytesOfText } from '../util/bytes.ts';
import { type Json, printJson } from '../util/json.ts';
import type { Encoding } from './compression.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The response of a route. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set if shared caches may keep it: then it depends on no credentials, and its `Vary` is complete. */
  readonly isPublic?: boolean;
  /** Set if the body is compressed already. */
  readonly encoding?: Encoding;
  /** Compressed copies of a cached response. */
  readonly copies?: CompressedCopies;
  /** For the log. */
  readonly error?: SvcError;
  /** Writes events instead of a body until the stream ends, and ends the response. Never rejects. */
  events?(response: ServerResponse, socket: Socket): Promise<{ readonly size: number; readonly error: SvcError | null }>;
}

export function jsonReply(status: number, json: Json): Reply {
  return printedReply(status, [bytesOfText(printJson(json))]);
}

/** @param body JSON */
export function printedReply(status: number, body: Body): Reply {
  return { status, contentType: JSON_TYPE, body };
}

export function textReply(status: number, text: string): Reply {
  return { status, contentType: 'text/plain; charset=utf-8', body: [bytesOfText(text)] };
}

/** `{path, error, code}` with the status of the error. */
export function adminErrorReply(error: SvcError, showInternal: boolean): Reply {
  return { ...jsonReply(error.status, encodeAdminError(error, showInternal)), error };
}

/** Reply for a path without a route. */
export function notFoundReply(): Reply {
  return adminErrorReply(new SvcError('not-found', 'resource does not exist', { status: 404 }), false);
}

/** `{errors: […]}`; `status` overrides that of the error. */
export function graphqlErrorReply(error: SvcError, showInternal: boolean, status: number): Reply {
  return { status, contentType: JSON_TYPE, body: [bytesOfText(printGraphqlErrors(error, showInternal))], error };
}
