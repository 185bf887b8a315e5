/** How the text of an option becomes its value, and how the value is shown again. */
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { isWebUrl } from '../util/web-url.ts';

export interface OptionType<T> {
  /** What help and the documentation call it: `integer`, `seconds`, `list of …`. */
  readonly name: string;
  /** @throws Error whose message is the reason shown to the user */
  parse(text: string): T;
  /** The value as it may be printed in help, documentation and logs: secrets are hidden. */
  show(value: T): string;
  /** A flag of this type may stand alone and then means `true`. */
  readonly flagAlone?: true;
  /** An empty environment variable is an error, not an absent one. */
  readonly emptyIsValue?: true;
}

export const text: OptionType<string> = { name: 'text', parse: (given) => given, show: (value) => value };

export const nonEmpty: OptionType<string> = {
  name: 'text',
  parse(given) {
    if (given === '') throw new Error('must not be empty');
    return given;
  },
  show: (value) => value,
};

/** @param most characters */
export function shortText(most: number): OptionType<string> {
  return {
    ...nonEmpty,
    parse(given) {
      const text = nonEmpty.parse(given);
      if (text.length > most) throw new Error(`must have at most ${most} characters, but has ${text.length}`);
      return text;
    },
  };
}

/** Text that is never shown. Empty text is refused: an unset variable in a script must not open the service. */
export const secret: OptionType<string> = {
  name: 'secret',
  parse(given) {
    if (given === '') throw new Error('the secret must not be empty');
    return given;
  },
  show: () => '***',
  emptyIsValue: true,
};

/** Never shown; empty text is none. */
export const password: OptionType<string> = { name: 'password', parse: (given) => given, show: () => '***' };

/** A JSON list of secrets, at least one. */
export const secretList: OptionType<readonly string[]> = {
  name: 'JSON list of secrets',
  parse(given) {
    let list: unknown;
    try {
      list = JSON.parse(given);
    } catch {
      list = undefined;
    }
    if (!Array.isArray(list) || list.length === 0 || !list.every((item): item is string => typeof item === 'string' && item !== '')) {
      throw new Error('expecting a JSON list of secrets, none of them empty');
    }
    return list;
  },
  show: () => '***',
  emptyIsValue: true,
};

const TRUE = new Set(['true', 't', 'yes', 'y']);
const FALSE = new Set(['false', 'f', 'no', 'n']);

export function isBooleanText(given: string): boolean {
  return TRUE.has(given.toLowerCase()) || FALSE.has(given.toLowerCase());
}

export const boolean: OptionType<boolean> = {
  name: 'boolean',
  parse(given) {
    const lower = given.toLowerCase();
    if (TRUE.has(lower)) return true;
    if (FALSE.has(lower)) return false;
    throw new Error(
      'Not a valid boolean text. True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. All values are case insensitive',
    );
  },
  show: String,
  flagAlone: true,
};

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): OptionType<number> {
  return {
    name: 'integer',
    parse: (given) => parseWhole(given, min, max),
    show: String,
  };
}

/** Given in whole seconds, kept in milliseconds. */
export function seconds(min: number, max = 2_000_000): OptionType<number> {
  return { name: 'seconds', parse: (given) => parseWhole(given, min, max) * 1000, show: (value) => String(value / 1000) };
}

export function milliseconds(min: number, max = 2_000_000_000): OptionType<number> {
  return { name: 'milliseconds', parse: (given) => parseWhole(given, min, max), show: String };
}

function parseWhole(given: string, min: number, max: number): number {
  const value = /^[+-]?\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (Number.isNaN(value)) throw new Error(`expecting an integer, but found ${JSON.stringify(given)}`);
  if (value < min || value > max) {
    throw new Error(max === Number.MAX_SAFE_INTEGER ? `must be at least ${min}` : `must be between ${min} and ${max}`);
  }
  return value;
}

export function choice<const C extends string>(...choices: readonly C[]): OptionType<C> {
  return {
    name: `one of ${choices.join(', ')}`,
    parse(given) {
      const found = choices.find((c) => c === given.toLowerCase());
      if (found === undefined) throw new Error(`expecting one of ${choices.join(', ')}, but found ${JSON.stringify(given)}`);
      return found;
    },
    show: (value) => value,
  };
}

/** A comma-separated list of known words; `complaint` replaces the reason for an unknown one. */
export function listOf<const C extends string>(choices: readonly C[], complaint?: string): OptionType<ReadonlySet<C>> {
  return {
    name: `list of ${choices.join(', ')}`,
    parse(given) {
      const values = new Set<C>();
      for (const item of splitList(given)) {
        const found = choices.find((c) => c === item);
        if (found === undefined) {
          throw new Error(complaint ?? `expecting a comma separated list of ${choices.join(', ')}, but found ${JSON.stringify(item)}`);
        }
        values.add(found);
      }
      return values;
    },
    show: (value) => [...value].join(','),
  };
}

function splitList(given: string): string[] {
  return given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** IP addresses and CIDR ranges, comma separated. */
export const addressRanges: OptionType<readonly string[]> = {
  name: 'list of addresses',
  parse(given) {
    const ranges = splitList(given);
    for (const range of ranges) {
      const [address = '', bits, ...more] = range.split('/');
      const family = isIP(address);
      const most = family === 6 ? 128 : 32;
      if (family === 0 || more.length > 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most))) {
        throw new Error(`expecting addresses and ranges such as 10.0.0.0/8, but found ${JSON.stringify(range)}`);
      }
    }
    return ranges;
  },
  show: (value) => value.join(','),
};

/** Any names, comma separated. */
export const nameList: OptionType<ReadonlySet<string>> = {
  name: 'list of names',
  parse: (given) => new Set(splitList(given)),
  show: (value) => [...value].join(','),
};

/** `postgres://user:password@host:port/database`; the password is hidden when shown. */
/** Prefixes of names of session variables, in lower case. */
export const prefixList: OptionType<readonly string[]> = {
  name: 'list of prefixes',
  parse(given) {
    const prefixes = splitList(given).map((prefix) => prefix.toLowerCase());
    const wrong = prefixes.find((prefix) => !/^x-[a-z0-9]+-$/.test(prefix) || prefix === 'x-svc-');
    if (wrong !== undefined) throw new Error(`expecting prefixes such as x-hasura-, but found ${JSON.stringify(wrong)}`);
    return [...new Set(prefixes)];
  },
  show: (value) => value.join(','),
};

export const postgresUrl: OptionType<string> = {
  name: 'PostgreSQL URL',
  parse(given) {
    if (/^dynamic-from-file:\/\/\/./.test(given)) return given;
    if (!/^postgres(?:ql)?:\/\//i.test(given) || !URL.canParse(given)) {
      throw new Error(
        'expecting a URL of the form postgres://user:password@host:port/database, with special characters of user and password as in %40 for @, or dynamic-from-file:///path',
      );
    }
    return given;
  },
  show: hidePassword,
};

export const absolutePath: OptionType<string> = {
  name: 'path',
  parse(given) {
    if (!isAbsolute(given)) throw new Error('expecting an absolute path');
    return given;
  },
  show: (value) => value,
};

/** What the path of a URL can say: the driver leaves these two characters encoded, and a folder is none. */
export const databaseName: OptionType<string> = {
  name: 'text',
  parse(given) {
    if (given === '' || given === '.' || given === '..' || /[?#]/.test(given)) {
      throw new Error('expecting the name of a database, without ? and #');
    }
    return given;
  },
  show: (value) => value,
};

/** An address to call; what may be a secret in it is hidden when shown. */
export const httpUrl: OptionType<string> = {
  name: 'URL',
  parse(given) {
    if (!isWebUrl(given)) throw new Error('expecting an http or https URL');
    return given;
  },
  show(value) {
    const { protocol, username, password, host, pathname, search } = new URL(value);
    const user = username === '' && password === '' ? '' : '***@';
    return `${protocol}//${user}${host}${pathname}${search === '' ? '' : '?***'}`;
  },
};

export type HookMethod = 'GET' | 'POST';

export const httpMethod: OptionType<HookMethod> = {
  name: 'one of GET, POST',
  parse(given) {
    const method = given.toUpperCase();
    if (method !== 'GET' && method !== 'POST') throw new Error(`expecting GET or POST, but found ${JSON.stringify(given)}`);
    return method;
  },
  show: (value) => value,
};

/** The URL with `***` in place of every password. */
export function hidePassword(url: string): string {
  if (!URL.canParse(url)) return '***';
  const parsed = new URL(url);
  if (parsed.password !== '') parsed.password = '***';
  if (parsed.searchParams.has('password')) parsed.searchParams.set('password', '***');
  return parsed.href;
}

/** The origins that browsers may call from: all, or exact and `*.` wildcard ones. */
export type CorsDomains = '*' | readonly string[];

const ORIGIN = /^https?:\/\/(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*(?::\d{1,5})?$/;

export const corsDomains: OptionType<CorsDomains> = {
  name: 'list of scheme://[*.]host[:port], or *',
  parse(given) {
    const items = splitList(given);
    if (items.includes('*')) return '*';
    for (const item of items) {
      if (!ORIGIN.test(item)) {
        throw new Error(`invalid domain: '${item}'. All domains should have scheme + (optional wildcard) host + (optional port)`);
      }
    }
    return items.map((item) => item.toLowerCase());
  },
  show: (value) => (value === '*' ? '*' : value.join(',')),
};

/** The names by which a service may be addressed: all, or exact and `*.` wildcard ones. */
export type HostNames = '*' | readonly string[];

const HOST_NAME = /^(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

export const hostNames: OptionType<HostNames> = {
  name: 'list of [*.]host, or *',
  parse(given) {
    const items = splitList(given);
    if (items.includes('*')) return '*';
    for (const item of items) {
      if (!HOST_NAME.test(item)) throw new Error(`expecting the name of a host without scheme and port, but found ${JSON.stringify(item)}`);
    }
    return items.map((item) => item.toLowerCase());
  },
  show: (value) => (value === '*' ? '*' : value.join(',')),
};

/** The same type for an option that may be absent. */
export function optional<T>(type: OptionType<T>): OptionType<T | null> {
  return { ...type, show: (value) => (value === null ? '' : type.show(value)) };
}
