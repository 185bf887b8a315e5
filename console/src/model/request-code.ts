/** Requests as code. Secrets appear as environment variables, never as values. */
import { type Json, printJson } from './json.ts';
import type { HeaderFields } from './request-headers.ts';

const SECRET_VARIABLE = 'SVC_GRAPHQL_ADMIN_SECRET';
const TOKEN_VARIABLE = 'TOKEN';

export interface CodeOptions {
  /** True if the request sends the admin secret. */
  readonly hasSecret: boolean;
  readonly headers?: HeaderFields;
  /** A token in `headers` to leave out of the code. */
  readonly token?: string | undefined;
}

interface CodeHeader {
  readonly name: string;
  /** Text before the variable. */
  readonly text: string;
  readonly variable: string | undefined;
}

function codeHeaders({ hasSecret, headers = {}, token }: CodeOptions): readonly CodeHeader[] {
  const entries = Object.entries(headers);
  const has = (lower: string): boolean => entries.some(([name]) => name.toLowerCase() === lower);
  const secret: CodeHeader = { name: 'X-Svc-Admin-Secret', text: '', variable: SECRET_VARIABLE };
  return [
    ...(has('content-type') ? [] : [{ name: 'Content-Type', text: 'application/json', variable: undefined }]),
    ...(hasSecret ? [secret] : []),
    ...entries.map(([name, value]): CodeHeader => {
      if (name.toLowerCase() === 'x-svc-admin-secret') return secret;
      if (token !== undefined && value === `Bearer ${token}`) return { name, text: 'Bearer ', variable: TOKEN_VARIABLE };
      return { name, text: value, variable: undefined };
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
  return [`curl -s ${shellQuoted(url)}`, ...lines, `-d ${shellQuoted(printJson(body))}`].join(' \\\n  ');
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
