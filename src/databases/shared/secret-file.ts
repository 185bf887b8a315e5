/** Secrets in files, which may be replaced while the service runs. */
import { SvcError } from '../../errors/svc-error.ts';
import { readFileBelow } from '../../util/file-below.ts';

const MAX_BYTES = 64 * 1024;

/**
 * @param folder the only folder whose files may be read, with links followed; `null` if none may
 * @param what the secret, for messages: `a database URL`
 * @param preposition between the file and the secret
 * @returns the text without white space around it
 * @throws SvcError that reveals nothing of the text
 */
export function readSecretFile(path: string, folder: string | null, what: string, preposition: 'of' | 'with'): string {
  if (folder === null) {
    throw new SvcError(
      'not-supported',
      `${what} is read from a file only below the folder of SVC_GRAPHQL_DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX, which is not set`,
    );
  }
  const text = readFileBelow(path, folder, MAX_BYTES);
  if (typeof text === 'string') return text;
  const file = `the file "${path}" ${preposition} ${what}`;
  if (text.kind === 'outside') throw new SvcError('not-supported', `${file} is not below the allowed folder`);
  throw new SvcError('not-found', `${file} cannot be read: ${text.reason}`);
}

/** Returns a function that parses a text again only when it has changed. */
export function parsedWhenChanged<T>(read: () => string, parse: (text: string) => T): () => T {
  let known: { readonly text: string; readonly value: T } | undefined;
  return () => {
    const text = read();
    if (known?.text !== text) known = { text, value: parse(text) };
    return known.value;
  };
}
