// The floors of ARCHITECTURE.md, checked: an arrow never points up. A floor is known by a suffix or by a folder.
const floors = require('./scripts/floors.json')

const { rules: RULES, ports: PORTS, declarations: DECLARATIONS, rows: ROWS } = floors
const { concurrency: CONCURRENCY, platform: PLATFORM, house: HOUSE, services: SERVICES } = floors
const NOT_SERVICES = [...RULES, ...PORTS, ...DECLARATIONS, ...ROWS, ...CONCURRENCY, ...PLATFORM, ...HOUSE]
const ZOD = ['^node_modules/zod']

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

// The floors of the SQL adapter, the lowest first: each imports itself and those before it.
const SQL_FLOORS = ['driver', 'schema', 'records/filter', 'records', 'cache', 'transactions']
const sqlFloors = SQL_FLOORS.map((floor, height) => ({
  name: `sql-${floor}-looks-down`,
  severity: 'error',
  from: { path: `^adapters/storage/kysely/${floor}/[^/]+$` },
  to: {
    path: '^adapters/storage/kysely/',
    pathNot: `^adapters/storage/kysely/(${SQL_FLOORS.slice(0, height + 1).join('|')})/[^/]+$`,
  },
}))

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    layer('concurrency-stands-alone', CONCURRENCY, CONCURRENCY),
    layer('rules-are-pure', RULES, RULES),
    layer('ports-are-interfaces', PORTS, [...PORTS, ...RULES]),
    layer('resources-are-declarations', DECLARATIONS, [...DECLARATIONS, ...PORTS, ...RULES, ...ZOD]),
    never('services-know-ports-only', SERVICES, NOT_SERVICES, [
      ...ROWS,
      ...PLATFORM,
      ...HOUSE,
      '^adapters',
      '^node_modules/(?!zod)',
      '^(node:)?(crypto|os|net|tls|fs|http|https|dns|events|child_process|worker_threads|process)$',
    ]),
    never(
      'rows-are-framework-free',
      ROWS,
      [],
      [
        ...PLATFORM,
        ...HOUSE,
        '^adapters',
        '^node_modules/(?!zod)',
        '^(node:)?(crypto|os|net|tls|fs|http|https|dns|events|child_process|worker_threads|process)$',
      ],
    ),
    layer('model-knows-declarations', ['^src/model/'], ['^src/model/', ...DECLARATIONS, ...RULES, ...ZOD]),
    layer('client-knows-operations', ['^src/client/'], ['^src/client/', ...ROWS, ...DECLARATIONS, ...RULES]),
    layer('platform-implements-ports', PLATFORM, [
      ...PLATFORM,
      ...PORTS,
      ...RULES,
      ...CONCURRENCY,
      '^node_modules/',
      '^node:|^(crypto|os|net|http|https|dns|events)$',
    ]),
    layer('adapters-use-the-front-door', '^adapters/([^/]+)', [
      '^adapters/$1',
      '^adapters/(node|memory|kysely|fabric|model|explorer|router|sdk|testing)/index[.]ts$',
      '^adapters/web/node/(connection-info|http/mount-prefix|https-fetch|signing-request|token-issuer)[.]ts$',
      '^adapters/network/channel/',
      '^src/(index|client/(index|answer)|model/index|policy|storage|version)[.]ts$',
      ...CONCURRENCY,
      // Adapters of the fabric speak by its ports and its rules, which a host does not see.
      '^src/ports/fabric/index[.]ts$',
      '^src/fabric/rules/index[.]ts$',
      '^src/data-plane/',
      '^adapters/network/sdk/in-process-identity[.]ts$',
      '^src/base/(addresses|arguments|bytes|collections|text)[.]ts$',
      '^src/controller/option-shapes[.]ts$',
      '^src/apis/route-finder[.]ts$',
      '^src/enrollment/invite[.]ts$',
      '^node_modules/',
      '^(node:)?[a-z0-9_/]+$',
    ]),
    ...sqlFloors,
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.test\\.ts$' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
  },
}
