/** Table of pages, for the navigation, the palette, the shortcuts and the router. */
import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { place } from '../browser/place.ts';
import type { IconName } from '../parts/icon.tsx';

export interface Page {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** Letter after `g` in the shortcut. */
  readonly key: string;
  /** Search words for the palette. */
  readonly words: string;
  /** Its page of the documentation. */
  readonly docs: string;
  load(): Promise<ComponentType>;
}

export const PAGES: readonly Page[] = [
  {
    path: '',
    title: 'Home',
    icon: 'home',
    key: 'h',
    words: 'health checklist start',
    docs: 'console.html',
    load: async () => (await import('../pages/home/home.tsx')).Home,
  },
  {
    path: 'explorer',
    title: 'Explorer',
    icon: 'explorer',
    key: 'e',
    words: 'graphql query mutation subscription explain',
    docs: 'console.html#explorer',
    load: async () => (await import('../pages/explorer/explorer.tsx')).Explorer,
  },
  {
    path: 'data',
    title: 'Data',
    icon: 'data',
    key: 'd',
    words: 'tables rows browse sources relationships permissions',
    docs: 'permissions.html',
    load: async () => (await import('../pages/data/data.tsx')).Data,
  },
  {
    path: 'sql',
    title: 'SQL',
    icon: 'sql',
    key: 's',
    words: 'sql statements tables create',
    docs: 'reference/query-api.html',
    load: async () => (await import('../pages/sql/sql.tsx')).Sql,
  },
  {
    path: 'remote-schemas',
    title: 'Remote schemas',
    icon: 'remote',
    key: 'r',
    words: 'remote schemas servers stitch graphql introspection',
    docs: 'remote-schemas.html',
    load: async () => (await import('../pages/remote-schemas/remote-schemas.tsx')).RemoteSchemas,
  },
  {
    path: 'actions',
    title: 'Actions',
    icon: 'actions',
    key: 'a',
    words: 'actions custom types handlers webhooks transforms',
    docs: 'actions.html',
    load: async () => (await import('../pages/actions/actions.tsx')).Actions,
  },
  {
    path: 'events',
    title: 'Events',
    icon: 'events',
    key: 'v',
    words: 'event triggers cron one-off schedules redeliver logs failed',
    docs: 'event-triggers.html',
    load: async () => (await import('../pages/events/events.tsx')).Events,
  },
  {
    path: 'live',
    title: 'Live',
    icon: 'live',
    key: 'l',
    words: 'subscriptions pollers live queries streams',
    docs: 'subscriptions.html',
    load: async () => (await import('../pages/live/live.tsx')).Live,
  },
  {
    path: 'metadata',
    title: 'Metadata',
    icon: 'metadata',
    key: 'm',
    words: 'export import difference inconsistent reload clear run operation json',
    docs: 'reference/metadata-api.html',
    load: async () => (await import('../pages/metadata/metadata.tsx')).Metadata,
  },
  {
    path: 'settings',
    title: 'Settings',
    icon: 'settings',
    key: 't',
    words: 'options roles inherited allow-list rest limits tls introspection configuration',
    docs: 'options.html',
    load: async () => (await import('../pages/settings/settings.tsx')).Settings,
  },
];

/** Page of the address; undefined for an unknown one. */
export const currentPage = computed(() => PAGES.find(({ path }) => path === (place.value.path[0] ?? '')));
