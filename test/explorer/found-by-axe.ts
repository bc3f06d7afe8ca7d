import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** The findings of axe on the page as it is, of any weight, also of targets that are smaller than a fingertip and close to others. */
export async function foundOn(page: Page, view: string): Promise<readonly string[]> {
  // A transition that is under way has colours of its own.
  await page.waitForTimeout(400)
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    'axe.run(document, { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })',
  )
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html }) => `${view}: ${id} (${impact}) ${html.slice(0, 120)}`),
  )
}
