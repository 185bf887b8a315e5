/** Renames session variables from one prefix to the other, wherever a name means a session variable. */

const PREFIX = /^x-hasura-/i;

/** Returns the name with the prefix of this service in its case, or `undefined` if it is not a session variable. */
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

/** Renames the variables in the `{{ }}` of a transform template. */
export function renamedTemplate(text: string): string {
  return text.replace(/\{\{[\s\S]*?\}\}/g, (inside) =>
    inside.replace(IN_TEMPLATE, (_all, before: string, prefix: string) => before + ownPrefix(prefix)),
  );
}

/** Renames the presets in the schema of a role; static presets are strings. */
export function renamedPresets(sdl: string): string {
  return sdl.replace(/@preset\s*\(([^)]*)\)/g, (directive, args: string) =>
    /\bstatic\s*:\s*true\b/.test(args)
      ? directive
      : directive.replace(/(["'])(x-hasura-)/gi, (_all, quote: string, prefix: string) => quote + ownPrefix(prefix)),
  );
}
