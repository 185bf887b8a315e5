import { type Config, optionRows } from './options.ts';

/** What was given by name and has no effect yet, a sentence for each. Defaults are given by nobody. */
export function givenWithoutEffect(config: Config): readonly string[] {
  return optionRows.flatMap(([name, option]) => {
    const given: unknown = config[name];
    if (option.withoutEffect === undefined || given === option.default) return [];
    return [...option.withoutEffect].flatMap(([value, until]) =>
      given instanceof Set && given.has(value) ? [`--${option.flag} ${value} has no effect until ${until}`] : [],
    );
  });
}
