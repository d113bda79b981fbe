import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { until } from '../../support/until.ts';
import { DEFAULT_TEMPORAL_NAMESPACE } from '../../../api/contract/search-attributes.ts';
import { temporalUiUrl } from '../../../deploy/local/cluster/addresses.ts';

const ARTIFACTS = join(import.meta.dirname, '../../../artifacts');

/** Opens a workflow in Temporal's UI in Debian's Chromium, and keeps a picture of it in artifacts/. */
export async function inTemporalUi<T>(
  workflowId: string,
  picture: string,
  look: (page: Page) => Promise<T>,
): Promise<T> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1400 } });
    await page.goto(
      `${temporalUiUrl}/namespaces/${DEFAULT_TEMPORAL_NAMESPACE}/workflows/${encodeURIComponent(workflowId)}`,
    );
    try {
      return await look(page);
    } finally {
      await mkdir(ARTIFACTS, { recursive: true });
      await page.screenshot({ path: join(ARTIFACTS, picture) });
    }
  } finally {
    await browser.close();
  }
}

/** Scrolls a page, whose rows appear as they come into sight, until each text is seen; the last one stays in the middle. @throws Error naming the rest */
export async function scrollTo(page: Page, texts: readonly string[]): Promise<void> {
  await page.mouse.move(800, 1000);
  await until(
    `the page shows ${texts.join(', ')}`,
    async () => {
      const counts = await Promise.all(texts.map((text) => page.getByText(text).count()));
      if (counts.every((count) => count > 0)) return true;
      await page.mouse.wheel(0, 200);
      return false;
    },
    { timeoutMs: 30_000, everyMs: 200 },
  );
  for (const text of texts) await page.getByText(text).last().scrollIntoViewIfNeeded();
}
