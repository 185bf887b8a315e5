/** URLs and headers of calls for logs, secrets redacted. */
import { type ConfiguredText, type HeaderDefinition, templateVariables } from '../metadata/environment-template.ts';
import { safeUrl } from '../http-client/safe-url.ts';
import { joinedHeader } from './client-headers.ts';

export interface LoggedHeader {
  readonly name: string;
  readonly value: string;
}

const REDACTED = '<REDACTED>';

/** Headers with credentials, always redacted. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'access-token',
  'cookie',
  'set-cookie',
  'x-svc-admin-secret',
]);

/**
 * Returns the headers of a call or response for logs. A value from the environment is shown as the name of its variable, a template as
 * written; credentials are redacted.
 * @param headers by name, as sent
 * @param configured headers of the metadata; none for a response
 */
export function loggedHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  configured: readonly HeaderDefinition[] = [],
): readonly LoggedHeader[] {
  const definitions = new Map(configured.map((header) => [header.name.toLowerCase(), header]));
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value: loggedValue(name.toLowerCase(), joinedHeader(value), definitions) }],
  );
}

function loggedValue(name: string, sent: string, definitions: ReadonlyMap<string, HeaderDefinition>): string {
  const { value, valueFromEnv } = definitions.get(name) ?? {};
  if (valueFromEnv !== undefined) return `<from_env: ${valueFromEnv}>`;
  if (CREDENTIALS.has(name)) return REDACTED;
  return value !== undefined && readsEnvironment(value) ? value : sent;
}

function readsEnvironment(template: string): boolean {
  return templateVariables(template).length > 0;
}

/** Returns the URL of a definition as written in the metadata, without user, password and parameters. */
export function loggedUrl(written: ConfiguredText): string {
  if (written.kind === 'environment') return written.name;
  return written.text.replace(/:\/\/[^\s/?#]*@/g, '://***@').replace(/[?#].*$/s, (rest) => (rest.startsWith('?') ? '?***' : ''));
}

/** Returns a configured URL as one template. */
export function templateOf(written: ConfiguredText): string {
  return written.kind === 'environment' ? `{{${written.name}}}` : written.text;
}

/** Returns the path of a URL made from a template, with `***` in place of values from the environment. */
export function loggedPath({ pathname }: URL, template: string): string {
  if (!readsEnvironment(template)) return pathname;
  const rest = template.slice(template.lastIndexOf('}}') + 2).replace(/[?#].*$/s, '');
  if (pathname === rest || (rest === '' && pathname === '/')) return pathname;
  return rest.startsWith('/') && pathname.endsWith(rest) ? `/***${rest}` : '/***';
}

/** Replaces the URL in an error message by one without path segments from the environment. */
export function loggedMessage(message: string, url: string, template: string): string {
  if (!URL.canParse(url)) return message;
  const parsed = new URL(url);
  const shown = `${parsed.protocol}//${parsed.host}${loggedPath(parsed, template)}${parsed.search === '' ? '' : '?***'}`;
  return message.replaceAll(safeUrl(parsed), () => shown);
}

/**
 * Returns the URL that a transform made of the configured one. A prefix that equals the configured URL is shown as written in the metadata.
 * @param filled the configured URL, filled from the environment
 */
export function loggedTransformedUrl(sent: string, written: ConfiguredText, filled: string): string {
  const base = bare(filled);
  const shown = safeUrl(sent);
  const text = bare(shown);
  const isBelow = base !== '' && (text === base || text.startsWith(`${base}/`));
  if (!isBelow) return readsSecrets(written) ? REDACTED : shown;
  return `${bare(loggedUrl(written))}${text.slice(base.length)}${shown.endsWith('?***') ? '?***' : ''}`;
}

/** Removes parameters and a trailing slash. */
function bare(url: string): string {
  const printed = URL.canParse(url) ? safeUrl(url) : url;
  return printed.replace(/\?.*$/s, '').replace(/\/$/, '');
}

function readsSecrets(written: ConfiguredText): boolean {
  return written.kind === 'environment' || readsEnvironment(written.text);
}
