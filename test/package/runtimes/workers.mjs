// Asks the worker, in workerd, with none of its own parts, with one and with both.
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

await build({
  entryPoints: ['worker.mjs'],
  outfile: 'worker.bundle.mjs',
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['workerd', 'worker', 'browser'],
  external: ['node:*'],
  logLevel: 'error',
})
const miniflare = new Miniflare({
  // As wrangler hands a bundle over: an import of an optional package that is absent stays in it, and is refused when it is reached.
  modules: [{ type: 'ESModule', path: 'worker.bundle.mjs' }],
  compatibilityDate: '2026-01-01',
  compatibilityFlags: ['nodejs_compat'],
  host: '127.0.0.1',
})
for (const parts of ['plain', 'hasher', 'both']) {
  const answer = await miniflare.dispatchFetch(`http://localhost/${parts}`)
  console.log(`${parts}: ${await answer.text()}`)
}
await miniflare.dispose()
