/** Requests as code. Secrets are variables of the environment, never their values. */
import { type Json, printJson } from './json.ts';
import type { HeaderFields } from './request-headers.ts';

export const SECRET_VARIABLE = 'SVC_GRAPHQL_ADMIN_SECRET';
const TOKEN_VARIABLE = 'TOKEN';

interface CodeOptions {
  /** Whether the admin secret goes along. */
  readonly hasSecret: boolean;
  readonly headers?: HeaderFields;
  /** A token in `headers` that stays out of the code. */
  readonly token?: string | undefined;
}

interface CodeHeader {
  readonly name: string;
  /** Text before the value of the variable. */
  readonly text: string;
  readonly variable: string | undefined;
}

function codeHeaders({ hasSecret, headers = {}, token }: CodeOptions): readonly CodeHeader[] {
  const given = Object.entries(headers);
  const has = (wanted: string): boolean => given.some(([name]) => name.toLowerCase() === wanted);
  const secret: CodeHeader = { name: 'X-Svc-Admin-Secret', text: '', variable: SECRET_VARIABLE };
  return [
    ...(has('content-type') ? [] : [{ name: 'Content-Type', text: 'application/json', variable: undefined }]),
    ...(hasSecret ? [secret] : []),
    ...given.map(([name, value]): CodeHeader => {
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

/** A curl command that sends the same request. */
export function curlOf(url: string, body: Json, options: CodeOptions): string {
  const lines = codeHeaders(options).map(({ name, text, variable }) =>
    variable === undefined ? `-H ${shellQuoted(`${name}: ${text}`)}` : `-H "${name}: ${text}$${variable}"`,
  );
  return [`curl -s ${shellQuoted(url)}`, ...lines, `-d ${shellQuoted(printJson(body))}`].join(' \\\n  ');
}

/** A call of `fetch` that sends the same request, for Node.js. */
export function fetchOf(url: string, body: Json, options: CodeOptions): string {
  const lines = codeHeaders(options).map(({ name, text, variable }) => {
    const value =
      variable === undefined ? JSON.stringify(text) : text === '' ? `process.env.${variable}` : `\`${text}\${process.env.${variable}}\``;
    return `    ${JSON.stringify(name)}: ${value},\n`;
  });
  return `await fetch(${JSON.stringify(url)}, {\n  method: 'POST',\n  headers: {\n${lines.join('')}  },\n  body: JSON.stringify(${printJson(body, 2)}),\n});`;
}
