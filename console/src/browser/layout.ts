/** Widths of the sidebars. */
import { computed, signal } from '@preact/signals';
import { remember, remembered } from './storage.ts';

export interface Sidebar {
  /** In rem. */
  readonly width: number;
  readonly isFolded: boolean;
}

/** A narrow page shows only the icons of the navigation, so that the content has room beside a list. */
export const isNarrow = matching('(max-width: 68.75em)');
/** On a phone the navigation is at the bottom, and lists are above their content. */
export const isPhone = matching('(max-width: 40em)');
/** On a phone controls are as large as a finger, but not on a page whose fonts are so large that it has the form of a phone. */
export const hasLargeControls = matching('(max-width: 40em) and (max-width: 640px)');

export const navigation = sidebar('navigation', { width: 13, isFolded: false });
export const tableTree = sidebar('table-tree', { width: 17, isFolded: false });

export const isNavigationFolded = computed(() => isNarrow.value || navigation.state.value.isFolded);

function matching(query: string) {
  const list = matchMedia(query);
  const state = signal(list.matches);
  list.addEventListener('change', ({ matches }) => {
    state.value = matches;
  });
  return state;
}

function sidebar(name: string, start: Sidebar) {
  const state = signal<Sidebar>(remembered(name, start));
  return {
    state,
    change(changes: Partial<Sidebar>): void {
      state.value = { ...state.peek(), ...changes };
      remember(name, state.peek());
    },
  };
}

export type SidebarState = ReturnType<typeof sidebar>;
