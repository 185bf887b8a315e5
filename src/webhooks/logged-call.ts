/** What logs tell of a call: nothing that is a secret. */
import { type ConfiguredText, fillTemplate, type HeaderDefinition } from '../metadata/environment-template.ts';
import { safeUrl } from '../http-client/safe-url.ts';
import { joinedHeader } from './client-headers.ts';

export interface LoggedHeader {
  readonly name: string;
  readonly value: string;
}

const REDACTED = '<REDACTED>';

/** Headers that say who somebody is, whoever configured them. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'access-token',
  'cookie',
  'set-cookie',
  'x-svc-admin-secret',
]);

/**
 * The headers of a call or of an answer. A value from the environment is told by the name of its variable, a template as it is
 * written, credentials not at all.
 * @param headers as they are sent, under their names in lower case
 * @param configured those of the metadata among them; none for an answer
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
  return 'missing' in fillTemplate(template, {});
}

/** The URL of a definition as the metadata write it, without user, password and parameters. */
export function loggedUrl(written: ConfiguredText): string {
  if (written.kind === 'environment') return written.name;
  return written.text.replace(/:\/\/[^\s/?#]*@/g, '://***@').replace(/[?#].*$/s, (rest) => (rest.startsWith('?') ? '?***' : ''));
}

/** A configured URL as one template. */
export function templateOf(written: ConfiguredText): string {
  return written.kind === 'environment' ? `{{${written.name}}}` : written.text;
}

/** The path of a URL that was made of a template, with `***` in place of what the environment has put there. */
export function loggedPath({ pathname }: URL, template: string): string {
  if (!readsEnvironment(template)) return pathname;
  const rest = template.slice(template.lastIndexOf('}}') + 2).replace(/[?#].*$/s, '');
  if (pathname === rest || (rest === '' && pathname === '/')) return pathname;
  return rest.startsWith('/') && pathname.endsWith(rest) ? `/***${rest}` : '/***';
}

/** What is said of a call, without what its URL's path has from the environment. */
export function loggedMessage(message: string, url: string, template: string): string {
  if (!URL.canParse(url)) return message;
  const parsed = new URL(url);
  const shown = `${parsed.protocol}//${parsed.host}${loggedPath(parsed, template)}${parsed.search === '' ? '' : '?***'}`;
  return message.replaceAll(safeUrl(parsed), () => shown);
}

/**
 * A URL that a transform made of the configured one: what is left of that stands there as it is written.
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

/** Without parameters and the slash at its end. */
function bare(url: string): string {
  const printed = URL.canParse(url) ? safeUrl(url) : url;
  return printed.replace(/\?.*$/s, '').replace(/\/$/, '');
}

function readsSecrets(written: ConfiguredText): boolean {
  return written.kind === 'environment' || readsEnvironment(written.text);
}
