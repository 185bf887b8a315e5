/** Requests as code. Secrets appear as environment variables, never as values. */
import { type Json, printJson } from './json.ts';
import type { HeaderFields } from './request-headers.ts';

const SECRET_VARIABLE = 'SVC_GRAPHQL_ADMIN_SECRET';
/** Variables of the headers whose values are credentials, by name in lower case. */
const VARIABLES: Readonly<Record<string, string>> = {
  authorization: 'AUTHORIZATION',
  cookie: 'COOKIE',
  'x-api-key': 'API_KEY',
};
const BEARER = /^bearer +/i;

export interface CodeOptions {
  /** True if the request sends the admin secret. */
  readonly hasSecret: boolean;
  readonly headers?: HeaderFields;
  /** Method of a curl command. Default `POST`; `GET` has no body. */
  readonly method?: string;
}

interface CodeHeader {
  readonly name: string;
  /** Text before the variable. */
  readonly text: string;
  readonly variable: string | undefined;
}

function codeHeaders({ hasSecret, headers = {}, method }: CodeOptions): readonly CodeHeader[] {
  const entries = Object.entries(headers);
  const has = (lower: string): boolean => entries.some(([name]) => name.toLowerCase() === lower);
  const secret: CodeHeader = { name: 'X-Svc-Admin-Secret', text: '', variable: SECRET_VARIABLE };
  return [
    ...(has('content-type') || method === 'GET' ? [] : [{ name: 'Content-Type', text: 'application/json', variable: undefined }]),
    ...(hasSecret ? [secret] : []),
    ...entries.map(([name, value]): CodeHeader => {
      const lower = name.toLowerCase();
      if (lower === 'x-svc-admin-secret') return secret;
      if (lower === 'authorization' && BEARER.test(value)) return { name, text: 'Bearer ', variable: 'TOKEN' };
      const variable = VARIABLES[lower];
      return { name, text: variable === undefined ? value : '', variable };
    }),
  ];
}

/** Quotes a text for a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns a curl command that sends the same request. */
export function curlOf(url: string, body: Json, options: CodeOptions): string {
  const lines = codeHeaders(options).map(({ name, text, variable }) =>
    variable === undefined ? `-H ${shellQuoted(`${name}: ${text}`)}` : `-H "${name}: ${text}$${variable}"`,
  );
  const { method = 'POST' } = options;
  const command = `curl -s ${method === 'GET' || method === 'POST' ? '' : `-X ${method} `}${shellQuoted(url)}`;
  return [command, ...lines, ...(method === 'GET' ? [] : [`-d ${shellQuoted(printJson(body))}`])].join(' \\\n  ');
}

/** Returns a call of `fetch` for Node.js that sends the same request. */
export function fetchOf(url: string, body: Json, options: CodeOptions): string {
  const lines = headerEntries(options).map(({ name, value }) => `    ${JSON.stringify(name)}: ${value},\n`);
  return `await fetch(${JSON.stringify(url)}, {\n  method: 'POST',\n  headers: {\n${lines.join('')}  },\n  body: JSON.stringify(${printJson(body, 2)}),\n});`;
}

/** Returns the headers with their values as JavaScript expressions. */
export function headerEntries(options: CodeOptions): readonly { readonly name: string; readonly value: string }[] {
  return codeHeaders(options).map(({ name, text, variable }) => {
    if (variable === undefined) return { name, value: JSON.stringify(text) };
    return { name, value: text === '' ? `process.env.${variable}` : `\`${text}\${process.env.${variable}}\`` };
  });
}
