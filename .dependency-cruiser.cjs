// The floors of ARCHITECTURE.md, checked: an arrow never points up. A floor is a folder. That folders side by side have an order is
// the matter of `scripts/folder-arrows.ts`.
const GROUND = ['^src/(base|concurrency)/']
const KERNEL = ['^src/kernel/']
const PORTS = ['^src/ports/']
const FACTS = ['^src/facts/']
/** Pure rules among the facts: they know no schema of a resource. */
const RULES = [
  '[.]rules[.]ts$',
  '^src/facts/(data-plane|fabric/rules|access/(index|invariants|posture/(rules|checks)))/',
]
const PLATFORM = ['^src/platform/']
const OPERATIONS = ['^src/(http|apis)/']
const DOORS = ['^src/(controller|client|model|planning)/', '^src/[^/]+[.]ts$']
const ZOD = ['^node_modules/zod']
const SERVICES_NOT = [...GROUND, ...KERNEL, ...PORTS, ...FACTS, ...PLATFORM, ...OPERATIONS, ...DOORS]
const OUTSIDE = [
  '^adapters',
  '^node_modules/(?!zod)',
  '^(node:)?(crypto|os|net|tls|fs|http|https|dns|events|child_process|worker_threads|process)$',
]

/** Who stands in `path` imports nothing but what stands in `allowed`. */
const layer = (name, path, allowed, pathNot = []) => ({
  name,
  severity: 'error',
  from: { path, pathNot },
  to: { path: '^(src|adapters|node_modules)|^[a-z:@]+', pathNot: allowed },
})

/** Who stands in `path` imports nothing that stands in `forbidden`. */
const never = (name, path, pathNot, forbidden) => ({
  name,
  severity: 'error',
  from: { path, pathNot },
  to: { path: forbidden },
})

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    layer('base-stands-alone', ['^src/base/'], ['^src/base/']),
    layer('concurrency-stands-alone', ['^src/concurrency/'], ['^src/concurrency/']),
    layer('the-kernel-knows-no-topic', KERNEL, ['^src/base/', ...KERNEL, ...ZOD]),
    layer('ports-are-interfaces', PORTS, ['^src/base/', ...KERNEL, ...PORTS]),
    layer('facts-are-declarations', FACTS, ['^src/base/', ...KERNEL, ...PORTS, ...FACTS, ...ZOD]),
    layer('rules-are-pure', RULES, [
      '^src/base/',
      '^src/kernel/filter/',
      ...PORTS,
      ...RULES,
      '^src/facts/access/explain/index[.]ts$',
    ]),
    never('services-know-ports-only', ['^src/'], SERVICES_NOT, [...OPERATIONS, ...PLATFORM, ...DOORS, ...OUTSIDE]),
    never('operations-are-framework-free', OPERATIONS, [], [...PLATFORM, ...DOORS, ...OUTSIDE]),
    layer('model-knows-facts', ['^src/model/'], ['^src/model/', '^src/base/', ...KERNEL, ...FACTS, ...ZOD]),
    layer(
      'client-knows-operations',
      ['^src/client/'],
      ['^src/client/', '^src/base/', '^src/concurrency/unless-aborted[.]ts$', ...KERNEL, ...FACTS, ...OPERATIONS],
    ),
    layer('platform-implements-ports', PLATFORM, [
      ...PLATFORM,
      ...PORTS,
      ...GROUND,
      ...KERNEL,
      '^src/facts/network/',
      '^node_modules/',
      '^node:|^(async_hooks|crypto|os|net|http|https|dns|events)$',
    ]),
    // A server loads the router and the identity of its own process by a door of theirs, and nothing of the others.
    // Rooms of one wing share what stands below them: their order is the matter of `scripts/folder-arrows.ts`.
    layer('adapters-use-front-doors', '^adapters/([^/]+)/', [
      '^adapters/$1/',
      '^adapters/[^/]+/[^/]+/(index|own-router|in-process-identity)[.]ts$',
      '^src/([^/]+|(client|model|planning)/index)[.]ts$',
      ...GROUND,
      '^node_modules/',
      '^(node:)?[a-z0-9_/]+$',
    ]),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
  },
}
