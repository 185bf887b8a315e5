import { describe, expect, it } from 'vitest';
import { type Flag, readArguments } from './arguments.ts';

const FLAGS: readonly Flag[] = [
  { names: ['--name', '-n'], value: 'required' },
  { names: ['--dry-run'], value: 'none' },
  { names: ['--dev-mode'], value: 'boolean' },
];

function read(...argv: string[]): readonly string[] {
  return [...readArguments(argv, FLAGS)].map((each) => (each.kind === 'operand' ? each.text : `${each.flag.names[0]}=${each.value}`));
}

describe('readArguments', () => {
  it.each([
    [
      ['a', '--name', 'x', 'b'],
      ['a', '--name=x', 'b'],
    ],
    [['--name=x=y'], ['--name=x=y']],
    [['-n', '-x'], ['--name=-x']],
    [['-n=x'], ['--name=x']],
    [
      ['--dry-run', 'a'],
      ['--dry-run=true', 'a'],
    ],
    [
      ['--dev-mode', 'serve'],
      ['--dev-mode=true', 'serve'],
    ],
    [['--dev-mode', 'No'], ['--dev-mode=No']],
    [
      ['--', '--name', '-n'],
      ['--name', '-n'],
    ],
  ])('reads %j', (argv, expected) => {
    expect(read(...argv)).toEqual(expected);
  });

  it.each([
    [['--nmae', 'x'], 'unknown option "--nmae", did you mean "--name"?'],
    [['-x'], 'unknown option "-x"'],
    [['-xhush'], 'unknown option "-x"'],
    [['-nhush'], '-n needs a space before its value'],
    [['--name'], '--name needs a value'],
    [['--dry-run=yes'], '--dry-run takes no value'],
  ])('rejects %j', (argv, message) => {
    expect(() => read(...argv)).toThrow(message);
  });
});
