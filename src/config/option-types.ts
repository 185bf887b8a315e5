/** Types of options: parsing of their text, and display of their values. */
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { booleanOf } from './arguments.ts';
import { isWebUrl } from '../util/web-url.ts';

export interface OptionType<T> {
  /** Name in help and documentation: `integer`, `seconds`, `list of …`. */
  readonly name: string;
  /** @throws Error whose message is the reason shown to the user */
  parse(text: string): T;
  /** Text for help, documentation and logs, with secrets hidden. */
  show(value: T): string;
  /** A flag without a value means `true`. */
  readonly flagAlone?: boolean;
  /** An empty environment variable is passed to `parse`; otherwise it counts as unset. */
  readonly emptyIsValue?: boolean;
}

export const anyText: OptionType<string> = { name: 'text', parse: (text) => text, show: (value) => value };

export const nonEmpty: OptionType<string> = {
  name: 'text',
  parse(text) {
    if (text === '') throw new Error('must not be empty');
    return text;
  },
  show: (value) => value,
};

/** @param maxLength in characters */
export function shortText(maxLength: number): OptionType<string> {
  return {
    ...nonEmpty,
    parse(text) {
      nonEmpty.parse(text);
      if (text.length > maxLength) throw new Error(`must have at most ${maxLength} characters, but has ${text.length}`);
      return text;
    },
  };
}

/** Secret, which is never shown. Empty text is rejected: an unset variable in a script must not give everyone access. */
export const secret: OptionType<string> = {
  name: 'secret',
  parse(text) {
    if (text === '') throw new Error('the secret must not be empty: set it, or remove the option or the variable');
    return text;
  },
  show: () => '***',
  emptyIsValue: true,
};

/** Password, which is never shown. Empty text means none. */
export const password: OptionType<string> = { name: 'password', parse: (text) => text, show: () => '***' };

/** JSON list with at least one secret. */
export const secretList: OptionType<readonly string[]> = {
  name: 'JSON list of secrets',
  parse(text) {
    let list: unknown;
    try {
      list = JSON.parse(text);
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

export const boolean: OptionType<boolean> = {
  name: 'boolean',
  parse(text) {
    const value = booleanOf(text);
    if (value !== undefined) return value;
    throw new Error(
      'Not a valid boolean text. True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. All values are case insensitive',
    );
  },
  show: String,
  flagAlone: true,
};

export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): OptionType<number> {
  return {
    name: 'integer',
    parse: (text) => parseWhole(text, min, max),
    show: String,
  };
}

/** Whole seconds; the value is in milliseconds. */
export function seconds(min: number, max = 2_000_000): OptionType<number> {
  return { name: 'seconds', parse: (text) => parseWhole(text, min, max) * 1000, show: (value) => String(value / 1000) };
}

export function milliseconds(min: number, max = 2_000_000_000): OptionType<number> {
  return { name: 'milliseconds', parse: (text) => parseWhole(text, min, max), show: String };
}

function parseWhole(text: string, min: number, max: number): number {
  const value = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new Error(`expecting an integer, but found ${JSON.stringify(text)}`);
  if (value < min || value > max) {
    throw new Error(max === Number.MAX_SAFE_INTEGER ? `must be at least ${min}` : `must be between ${min} and ${max}`);
  }
  return value;
}

export function choice<const C extends string>(...choices: readonly C[]): OptionType<C> {
  return {
    name: `one of ${choices.join(', ')}`,
    parse(text) {
      const found = choices.find((c) => c === text.toLowerCase());
      if (found === undefined) throw new Error(`expecting one of ${choices.join(', ')}, but found ${JSON.stringify(text)}`);
      return found;
    },
    show: (value) => value,
  };
}

/** Comma-separated list of known words. @param message error for an unknown word */
export function wordList<const C extends string>(choices: readonly C[], message?: string): OptionType<ReadonlySet<C>> {
  return {
    name: `list of ${choices.join(', ')}`,
    parse(text) {
      const values = new Set<C>();
      for (const item of splitList(text)) {
        const found = choices.find((c) => c === item);
        if (found === undefined) {
          throw new Error(message ?? `expecting a comma-separated list of ${choices.join(', ')}, but found ${JSON.stringify(item)}`);
        }
        values.add(found);
      }
      return values;
    },
    show: (value) => [...value].join(','),
  };
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Comma-separated IP addresses and CIDR ranges. */
export const addressRanges: OptionType<readonly string[]> = {
  name: 'list of addresses',
  parse(text) {
    const ranges = splitList(text);
    for (const range of ranges) {
      const [address = '', bits, ...more] = range.split('/');
      const family = isIP(address);
      const maxBits = family === 6 ? 128 : 32;
      if (family === 0 || more.length > 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))) {
        throw new Error(`expecting addresses and ranges such as 10.0.0.0/8, but found ${JSON.stringify(range)}`);
      }
    }
    return ranges;
  },
  show: (value) => value.join(','),
};

/** Comma-separated names. */
export const nameList: OptionType<ReadonlySet<string>> = {
  name: 'list of names',
  parse: (text) => new Set(splitList(text)),
  show: (value) => [...value].join(','),
};

/** Comma-separated prefixes of session variables; the value is in lower case. */
export const prefixList: OptionType<readonly string[]> = {
  name: 'list of prefixes',
  parse(text) {
    const prefixes = splitList(text).map((prefix) => prefix.toLowerCase());
    const invalid = prefixes.find((prefix) => !/^x-[a-z0-9]+-$/.test(prefix) || prefix === 'x-svc-');
    if (invalid !== undefined) throw new Error(`expecting prefixes such as x-hasura-, but found ${JSON.stringify(invalid)}`);
    return [...new Set(prefixes)];
  },
  show: (value) => value.join(','),
};

/** `postgres://user:password@host:port/database`, shown without the password. */
export const postgresUrl: OptionType<string> = {
  name: 'PostgreSQL URL',
  parse(text) {
    if (/^dynamic-from-file:\/\/\/./.test(text)) return text;
    if (!/^postgres(?:ql)?:\/\//i.test(text) || !URL.canParse(text)) {
      throw new Error(
        'expecting a URL of the form postgres://user:password@host:port/database, with special characters of user and password as in %40 for @, or dynamic-from-file:///path',
      );
    }
    return text;
  },
  show: hidePassword,
};

export const absolutePath: OptionType<string> = {
  name: 'path',
  parse(text) {
    if (!isAbsolute(text)) throw new Error('expecting an absolute path');
    return text;
  },
  show: (value) => value,
};

/** Database name that fits into a URL: the driver leaves `?` and `#` encoded, and `.` and `..` are folders in a path. */
export const databaseName: OptionType<string> = {
  name: 'text',
  parse(text) {
    if (text === '' || text === '.' || text === '..' || /[?#]/.test(text)) {
      throw new Error('expecting the name of a database, without ? and #');
    }
    return text;
  },
  show: (value) => value,
};

/** URL of a webhook, shown without user, password and query, which may contain secrets. */
export const httpUrl: OptionType<string> = {
  name: 'URL',
  parse(text) {
    if (!isWebUrl(text)) throw new Error('expecting an http or https URL');
    return text;
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
  parse(text) {
    const method = text.toUpperCase();
    if (method !== 'GET' && method !== 'POST') throw new Error(`expecting GET or POST, but found ${JSON.stringify(text)}`);
    return method;
  },
  show: (value) => value,
};

/** Replaces passwords in a URL by `***`. */
export function hidePassword(url: string): string {
  if (!URL.canParse(url)) return '***';
  const parsed = new URL(url);
  if (parsed.password !== '') parsed.password = '***';
  if (parsed.searchParams.has('password')) parsed.searchParams.set('password', '***');
  return parsed.href;
}

/** Permitted CORS origins: all, or exact and `*.` wildcard ones. */
export type CorsDomains = '*' | readonly string[];

const ORIGIN = /^https?:\/\/(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*(?::\d{1,5})?$/;

export const corsDomains: OptionType<CorsDomains> = {
  name: 'list of scheme://[*.]host[:port], or *',
  parse(text) {
    const items = splitList(text);
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

/** Permitted host names of the service: all, or exact and `*.` wildcard ones. */
export type HostNames = '*' | readonly string[];

const HOST_NAME = /^(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

export const hostNames: OptionType<HostNames> = {
  name: 'list of [*.]host, or *',
  parse(text) {
    const items = splitList(text);
    if (items.includes('*')) return '*';
    for (const item of items) {
      if (!HOST_NAME.test(item)) throw new Error(`expecting a host name without scheme and port, but found ${JSON.stringify(item)}`);
    }
    return items.map((item) => item.toLowerCase());
  },
  show: (value) => (value === '*' ? '*' : value.join(',')),
};

/** Makes an option nullable; `null` is shown as empty text. */
export function orNull<T>(type: OptionType<T>): OptionType<T | null> {
  return { ...type, show: (value) => (value === null ? '' : type.show(value)) };
}
