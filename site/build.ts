/** Builds the site into a folder: pages from Markdown, one script, one style sheet, and the text for the search. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { build } from 'vite';
import { renderPage, type RenderedPage } from './markdown.ts';
import { navigationOf } from './navigation.ts';
import { readSources } from './pages.ts';
import { type Assets, pageHtml } from './template.ts';

/** Sections of all pages: loaded when the search is opened. */
export interface SearchText {
  /** Address and title of each page. */
  readonly pages: readonly (readonly [string, string])[];
  /** Index of the page, anchor, heading and text of each section. */
  readonly sections: readonly (readonly [number, string, string, string])[];
}

/**
 * @param root folder with docs/, README.md, CHANGELOG.md and package.json
 * @param folder an empty folder
 * @returns the number of pages
 * @throws Error with all faults of the pages, such as links that lead nowhere
 */
export async function buildSite(root: string, folder: string): Promise<number> {
  const sources = readSources(root);
  const faults: string[] = [];
  const pages = new Map<string, RenderedPage>();
  for (const page of sources.pages.values()) {
    try {
      pages.set(page.source, renderPage(page, sources));
    } catch (thrown) {
      faults.push(`${page.source}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  }
  for (const rendered of pages.values()) faults.push(...deadAnchors(rendered, pages));
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const navigation = navigationOf(pages);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const write = (address: string, content: string): void => {
    mkdirSync(dirname(join(folder, address)), { recursive: true });
    writeFileSync(join(folder, address), content);
  };
  const named = (name: string, content: string): string => {
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 10);
    const address = `assets/${basename(name, extname(name))}-${hash}${extname(name)}`;
    write(address, content);
    return address;
  };
  const { script, theme, style } = await bundle();
  const assets: Assets = {
    script: named('site.js', script),
    theme: named('theme.js', theme),
    style: named('site.css', style),
    icon: named('icon.svg', readFileSync(join(import.meta.dirname, '..', 'console', 'src', 'styles', 'icon.svg'), 'utf8')),
    search: named('search.json', JSON.stringify(searchText([...pages.values()]))),
  };
  for (const rendered of pages.values()) write(rendered.page.address, pageHtml(rendered, { version, assets, navigation }));
  for (const [source, address] of sources.pictures) {
    mkdirSync(dirname(join(folder, address)), { recursive: true });
    copyFileSync(join(root, source), join(folder, address));
  }
  return pages.size;
}

function deadAnchors({ page, links }: RenderedPage, pages: ReadonlyMap<string, RenderedPage>): string[] {
  return links
    .filter(
      ({ target, anchor }) => anchor !== '' && pages.get(target.source)?.headings.every((heading) => heading.anchor !== anchor) === true,
    )
    .map(({ target, anchor, written }) => `${page.source}: ${target.source} has no heading #${anchor} (${written})`);
}

function searchText(pages: readonly RenderedPage[]): SearchText {
  return {
    pages: pages.map(({ page, title }) => [page.address, title]),
    sections: pages.flatMap(({ sections }, index) =>
      sections.map(({ anchor, heading, text }) => [index, anchor, heading, text] as [number, string, string, string]),
    ),
  };
}

/** Compiles the client. The script of the theme is separate, because it runs before the page is drawn. */
async function bundle(): Promise<{ script: string; theme: string; style: string }> {
  const client = join(import.meta.dirname, 'client');
  const compiled = await Promise.all(
    (['main.ts', 'theme.ts'] as const).map((entry) =>
      build({
        configFile: false,
        root: client,
        logLevel: 'warn',
        mode: 'production',
        build: {
          write: false,
          target: 'es2023',
          modulePreload: false,
          assetsInlineLimit: 0,
          rolldownOptions: { input: join(client, entry), checks: { pluginTimings: false } },
        },
      }),
    ),
  );
  const outputs = compiled.map((result) => {
    const [first] = [result].flat();
    if (first === undefined || !('output' in first)) throw new Error('the client of the site was not compiled');
    const chunk = first.output.find((file) => file.type === 'chunk');
    const style = first.output.find((file) => file.type === 'asset' && file.fileName.endsWith('.css'));
    return { code: chunk?.code ?? '', style: style?.type === 'asset' ? String(style.source) : '' };
  });
  return { script: outputs[0]?.code ?? '', theme: outputs[1]?.code ?? '', style: outputs[0]?.style ?? '' };
}
