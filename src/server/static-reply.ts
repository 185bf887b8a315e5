/** Responses with static files. */
import { bytesOfText } from '../util/bytes.ts';
import { chooseEncoding } from './compression.ts';
import type { Exchange } from './context.ts';
import { HTML_TYPE, page, PAGE_HEADERS } from './page.ts';
import type { Reply } from './reply.ts';
import type { StaticFile } from './static-files.ts';

/** Headers of every file, besides a content security policy. */
export const STATIC_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'clipboard-write=(self)',
};

export function isRead({ method }: Exchange['request']): boolean {
  return method === 'GET' || method === 'HEAD';
}

export function fileReply(file: StaticFile, request: Exchange['request'], ownHeaders: Readonly<Record<string, string>>): Reply {
  const headers = {
    ...ownHeaders,
    'Cache-Control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: file.etag,
    Vary: 'Accept-Encoding',
  };
  const { contentType } = file;
  if (isKnown(request.headers['if-none-match'], file.etag)) return { status: 304, contentType, body: [], headers };
  const { encoding } = chooseEncoding(request.headers['accept-encoding']);
  const compressed = encoding === null ? undefined : file.compressed[encoding];
  if (encoding === null || compressed === undefined) return { status: 200, contentType, body: [file.plain], headers };
  return { status: 200, contentType, body: [compressed], headers, encoding };
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((each) => each.trim() === etag || each.trim() === '*');
}

/** @param location relative, because a proxy may serve the service below a prefix that it strips from requests */
export function redirect(location: string, name: string): Reply {
  return {
    status: 302,
    contentType: HTML_TYPE,
    body: [bytesOfText(page('svc', `<p>The <a href="${location}">${name}</a>.</p>`))],
    headers: { ...PAGE_HEADERS, Location: location, 'Cache-Control': 'no-store' },
  };
}

/** @param main HTML */
export function missingPage(title: string, main: string): Reply {
  return {
    status: 404,
    contentType: HTML_TYPE,
    body: [bytesOfText(page(title, main))],
    headers: { ...PAGE_HEADERS, 'Cache-Control': 'no-store' },
  };
}
