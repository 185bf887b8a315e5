/** Names of session variables: from one prefix to the other, in the places where they mean session variables. */

const PREFIX = /^x-hasura-/i;

/** The name under the prefix of this service, its case kept; undefined: it is no name of a session variable. */
export function renamedVariable(text: string): string | undefined {
  const prefix = PREFIX.exec(text)?.[0];
  if (prefix === undefined) return undefined;
  return ownPrefix(prefix) + text.slice(prefix.length);
}

function ownPrefix(prefix: string): string {
  if (prefix === prefix.toLowerCase()) return 'x-svc-';
  return prefix === prefix.toUpperCase() ? 'X-SVC-' : 'X-Svc-';
}

const IN_TEMPLATE =
  /(\$session_variables\s*\??\[\s*['"]|\bsession_variables\s*\??\[\s*['"]|\bgetSessionVariable\s*\(\s*['"]|\bsession_variables\.)(x-hasura-)/gi;

/** A template of a transform with the variables in its `{{ }}` renamed. */
export function renamedTemplate(text: string): string {
  return text.replace(/\{\{[\s\S]*?\}\}/g, (inside) =>
    inside.replace(IN_TEMPLATE, (_all, before: string, prefix: string) => before + ownPrefix(prefix)),
  );
}

/** The schema of a role with its presets renamed; static ones are texts. */
export function renamedPresets(sdl: string): string {
  return sdl.replace(/@preset\s*\(([^)]*)\)/g, (directive, args: string) =>
    /\bstatic\s*:\s*true\b/.test(args)
      ? directive
      : directive.replace(/(["'])(x-hasura-)/gi, (_all, quote: string, prefix: string) => quote + ownPrefix(prefix)),
  );
}
