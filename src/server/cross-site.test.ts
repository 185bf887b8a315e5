import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { CredentialPlace } from '../auth/credentials.ts';
import { checkNoForm, checkPage, mayChangeByGet, type PagePolicy, pagePolicy } from './cross-site.ts';

const DEFAULT = pagePolicy('*', [], '*');
const LISTED = pagePolicy(['https://app.example', 'https://*.apps.example'], ['*.svc.cluster', 'api.example'], 'graphql.example');

const EVIL = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };

function allowed(headers: IncomingHttpHeaders, place: CredentialPlace, policy: PagePolicy = DEFAULT, method = 'POST'): boolean {
  try {
    checkPage(method, { host: 'localhost:8080', ...headers }, place, policy);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'access-denied', status: 403 });
    return false;
  }
}

describe('a page of another origin', () => {
  it.each<IncomingHttpHeaders>([
    EVIL,
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: '' },
    { origin: 'http://localhost.evil.example' },
    { origin: 'http://127.0.0.1.evil.example' },
    { origin: 'https://localhost@evil.example' },
    { origin: 'http://localhost:8080', 'sec-fetch-site': 'cross-site', host: 'api.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    { ...EVIL, host: 'evil.example' },
  ])('is rejected: %o', (headers) => {
    expect(allowed(headers, 'browser')).toBe(false);
    if (headers.origin !== 'http://localhost:8080') expect(allowed(headers, 'open')).toBe(false);
    expect(allowed(headers, 'browser', LISTED)).toBe(false);
    expect(allowed(headers, 'browser', pagePolicy(null, [], '*'))).toBe(false);
    // Credentials that the browser does not send by itself belong to the page.
    expect(allowed(headers, 'header')).toBe(true);
    expect(allowed(headers, 'none')).toBe(true);
  });

  it('is permitted if its origin is in the list', () => {
    for (const place of ['browser', 'open'] as const) {
      expect(allowed({ ...EVIL, origin: 'https://app.example' }, place, LISTED)).toBe(true);
      expect(allowed({ ...EVIL, origin: 'https://one.apps.example' }, place, LISTED)).toBe(true);
      expect(allowed({ ...EVIL, origin: 'http://app.example' }, place, LISTED)).toBe(false);
      expect(allowed({ ...EVIL, origin: 'https://apps.example' }, place, LISTED)).toBe(false);
    }
  });

  it('is rejected for a websocket, which is not a navigation', () => {
    const upgrade = { ...EVIL, 'sec-fetch-mode': 'websocket', upgrade: 'websocket' };
    expect(allowed(upgrade, 'browser', DEFAULT, 'GET')).toBe(false);
    expect(allowed(upgrade, 'open', DEFAULT, 'GET')).toBe(false);
  });

  it('may link to the service', () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(allowed(link, 'browser', DEFAULT, 'GET')).toBe(true);
    expect(allowed(link, 'browser', DEFAULT, 'POST')).toBe(false);
    expect(['header', 'browser', 'none', 'open'].filter((place) => mayChangeByGet(place as CredentialPlace))).toEqual(['header']);
  });
});

it.each<IncomingHttpHeaders>([
  {},
  { origin: 'http://localhost:8080' },
  { origin: 'https://api.example', host: 'API.example' },
  { origin: 'https://api.example', host: 'inner', 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
])('permits its own pages and other clients: %o', (headers) => {
  expect(allowed(headers, 'browser', LISTED)).toBe(true);
  expect(allowed(headers, 'open', LISTED)).toBe(true);
});

describe('a service without a secret', () => {
  it.each([
    'localhost',
    'localhost:1',
    'a.localhost:8080',
    '127.0.0.1:80',
    '127.8.8.8',
    '[::1]:8080',
    '10.0.0.7',
    'svc:8080',
    'graphql',
    'LOCALHOST.',
  ])('trusts the host %s', (host) => expect(allowed({ host }, 'open')).toBe(true));

  it.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1@evil.example',
    'a.svc.cluster',
    '[::1].evil.example',
  ])('does not trust the host %s', (host) => {
    expect(allowed({ host }, 'open')).toBe(false);
    // A page with a rebound host name has the same origin.
    expect(allowed({ host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }, 'open')).toBe(false);
    expect(allowed({ host }, 'open', pagePolicy('*', '*', '*'))).toBe(true);
    expect(allowed({ host }, 'browser')).toBe(true);
  });

  it('trusts configured hosts', () => {
    for (const host of ['a.svc.cluster', 'a.b.svc.cluster:80', 'api.example', 'graphql.example:8080', 'app.example', 'x.apps.example']) {
      expect(allowed({ host }, 'open', LISTED)).toBe(true);
    }
    for (const host of ['svc.cluster', 'xapi.example', 'api.example.evil.example']) expect(allowed({ host }, 'open', LISTED)).toBe(false);
  });

  it('trusts pages of the local machine', () => {
    for (const origin of ['http://localhost:3000', 'http://app.localhost', 'http://127.0.0.1:5173', 'http://[::1]:3000'])
      expect([
        allowed({ origin, 'sec-fetch-site': 'same-site' }, 'open'),
        allowed({ origin, 'sec-fetch-site': 'same-site' }, 'browser'),
      ]).toEqual([true, false]);
  });
});

describe('what a form can send', () => {
  const refused = (
    type: string | undefined,
    more: IncomingHttpHeaders = {},
    place: CredentialPlace = 'browser',
    method = 'POST',
  ): boolean => {
    try {
      checkNoForm(method, { ...(type === undefined ? {} : { 'content-type': type }), ...more }, place);
      return false;
    } catch (error) {
      expect(error).toMatchObject({ status: 415 });
      return true;
    }
  };

  it.each([undefined, '', 'text/plain', 'text/plain; application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
    'is refused with cookies: %s',
    (type) => {
      expect(refused(type)).toBe(true);
      expect(refused(type, { 'x-requested-with': 'page' })).toBe(false);
      expect(refused(type, {}, 'header')).toBe(false);
      expect(refused(type, {}, 'browser', 'PUT')).toBe(false);
      expect(refused('application/json')).toBe(false);
    },
  );
});
