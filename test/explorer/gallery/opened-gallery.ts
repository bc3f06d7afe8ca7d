import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { bundleExplorer } from '../../../scripts/bundle-explorer.ts'
import { type OpenPage, openPage } from '../../support/explorer.ts'

const ADDRESS = 'http://localhost/gallery/explorer/'
const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', css: 'text/css', html: 'text/html' }

/** Opens the gallery: the components of the page with its stylesheets, from a bundle that is not packed. Nothing listens at its address. */
export async function openGallery(options: BrowserContextOptions): Promise<OpenPage> {
  const files = await bundleExplorer(join(import.meta.dirname, 'gallery.tsx'))
  return openPage(ADDRESS, options, (page) =>
    page.route(`${ADDRESS}**`, (route) => {
      const name = new URL(route.request().url()).pathname.slice(new URL(ADDRESS).pathname.length) || 'index.html'
      const file = files.get(name)
      if (file === undefined) return route.fulfill({ status: 404 })
      return route.fulfill({
        body: Buffer.from(file),
        contentType: TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain',
      })
    }),
  )
}
