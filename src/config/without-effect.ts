import { type Config, optionRows } from './options.ts';

/** Returns a warning for each value that has no effect yet, unless it is a default. */
export function settingsWithoutEffect(config: Config): readonly string[] {
  return optionRows.flatMap(([name, option]) => {
    const value: unknown = config[name];
    if (option.withoutEffect === undefined || value === option.default) return [];
    return [...option.withoutEffect].flatMap(([word, until]) =>
      value instanceof Set && value.has(word) ? [`--${option.flag} ${word} has no effect until ${until}`] : [],
    );
  });
}
