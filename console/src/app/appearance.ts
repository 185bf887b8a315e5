import { density, type Density } from '../browser/density.ts';
import { theme, type Theme } from '../browser/theme.ts';

interface Appearance {
  readonly label: string;
  readonly isChosen: boolean;
  run(): void;
}

const THEMES: Readonly<Record<Theme, string>> = { system: 'Theme of the system', light: 'Light theme', dark: 'Dark theme' };
const DENSITIES: Readonly<Record<Density, string>> = { compact: 'Compact rows', normal: 'Normal rows', spacious: 'Spacious rows' };

/** Themes and densities to choose from. */
export function appearances(): readonly Appearance[] {
  return [
    ...(Object.keys(THEMES) as Theme[]).map((each) => ({
      label: THEMES[each],
      isChosen: theme.value === each,
      run: () => {
        theme.value = each;
      },
    })),
    ...(Object.keys(DENSITIES) as Density[]).map((each) => ({
      label: DENSITIES[each],
      isChosen: density.value === each,
      run: () => {
        density.value = each;
      },
    })),
  ];
}
