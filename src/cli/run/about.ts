/** `svc version` and `svc completion`. */
import { isOlder, serviceVersion } from '../../config/version.ts';
import { EXIT, failure, ProjectFailure } from '../../project/failure.ts';
import type { CommandContext, CommandOutcome } from '../context.ts';

/** Warning about a service whose version differs from that of the command. */
export function versionMismatch(service: string, own: string): string {
  return isOlder(service, own)
    ? `the service has version ${service} and is older than the command (${own}): it may not support what the command sends`
    : `the service has version ${service}, the command ${own}`;
}

/** `svc version` */
export async function runVersion(context: CommandContext): Promise<CommandOutcome> {
  const own = serviceVersion();
  try {
    if (!(await context.anyProject()).settings.namesService) return { text: `svc ${own}`, data: { version: own } };
    const other = await (await context.server()).version();
    if (other !== own) context.warn(versionMismatch(other, own));
    return { text: `svc ${own}, service ${other}`, data: { version: own, service: other } };
  } catch (thrown) {
    if (!(thrown instanceof ProjectFailure)) throw thrown;
    context.warn(thrown.message);
    return { text: `svc ${own}`, data: { version: own } };
  }
}

/** Words that may follow each sequence of words. */
function following(commands: readonly (readonly string[])[]): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, string[]>();
  const add = (path: readonly string[]): void => {
    path.forEach((word, i) => {
      const before = path.slice(0, i).join(' ');
      const list = words.get(before) ?? [];
      if (!list.includes(word)) list.push(word);
      words.set(before, list);
    });
  };
  for (const path of commands) add(path);
  return words;
}

/** `svc completion` */
export async function runCompletion(context: CommandContext): Promise<CommandOutcome> {
  const [shell] = context.args;
  const make = SHELLS[shell as keyof typeof SHELLS];
  if (make === undefined)
    throw failure('usage', `unknown shell ${JSON.stringify(shell)}: expecting one of ${Object.keys(SHELLS).join(', ')}`, {}, EXIT.usage);
  return { text: make(following(context.commands)) };
}

const cases = (words: ReadonlyMap<string, readonly string[]>): string =>
  [...words].map(([before, list]) => `    "${before}") words="${list.join(' ')}";;`).join('\n');

const SHELLS = {
  bash: (words: ReadonlyMap<string, readonly string[]>) => `_svc() {
  local before="\${COMP_WORDS[*]:1:COMP_CWORD-1}" words=""
  case "$before" in
${cases(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _svc svc
`,
  zsh: (words: ReadonlyMap<string, readonly string[]>) => `#compdef svc
_svc() {
  local before="\${(j: :)words[2,CURRENT-1]}" words=""
  case "$before" in
${cases(words)}
  esac
  compadd -- \${=words}
}
compdef _svc svc
`,
  fish: (words: ReadonlyMap<string, readonly string[]>) =>
    `function __svc_before
  set -l words (commandline -opc)
  string join ' ' $words[2..-1]
end
complete -c svc -f
${[...words].map(([before, list]) => `complete -c svc -n 'test "$(__svc_before)" = "${before}"' -a '${list.join(' ')}'`).join('\n')}
`,
  powershell: (words: ReadonlyMap<string, readonly string[]>) => `Register-ArgumentCompleter -Native -CommandName svc -ScriptBlock {
  param($word, $ast, $position)
  $following = @{
${[...words].map(([before, list]) => `    '${before}' = @(${list.map((each) => `'${each}'`).join(', ')})`).join('\n')}
  }
  $before = ($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" } | Where-Object { $_ -ne $word }) -join ' '
  $following[$before] | Where-Object { $_ -like "$word*" }
}
`,
} as const;
