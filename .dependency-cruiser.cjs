// The layers of ARCHITECTURE.md, checked. Each line says what a folder may import besides its own files.
const layer = (name, path, allowed) => ({
  name,
  severity: 'error',
  from: { path },
  to: { path: '^(src|adapters|node_modules)|^[a-z:@]+', pathNot: allowed },
})

// The floors of the SQL adapter, the lowest first: each imports itself and those before it.
const SQL_FLOORS = ['driver', 'language', 'schema', 'records/filter', 'records', 'cache', 'transactions']
const sqlFloors = SQL_FLOORS.map((floor, height) => ({
  name: `sql-${floor}-looks-down`,
  severity: 'error',
  from: { path: `^adapters/kysely/${floor}/[^/]+$` },
  to: { path: '^adapters/kysely/', pathNot: `^adapters/kysely/(${SQL_FLOORS.slice(0, height + 1).join('|')})/[^/]+$` },
}))

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    layer('concurrency-stands-alone', '^src/concurrency', ['^src/concurrency']),
    layer('domain-is-pure', '^src/domain', ['^src/domain']),
    layer('ports-are-interfaces', '^src/ports', ['^src/(ports|domain)']),
    layer('resources-are-declarations', '^src/resources', ['^src/(resources|ports|domain)', '^node_modules/zod']),
    layer('engine-knows-ports-only', '^src/engine', [
      '^src/(engine|resources|ports|domain|concurrency)',
      '^node_modules/zod',
    ]),
    layer('http-is-framework-free', '^src/http', [
      '^src/(http|engine|resources|ports|domain|concurrency)',
      '^node_modules/zod',
    ]),
    layer('model-knows-declarations', '^src/model', ['^src/(model|resources|domain)', '^node_modules/zod']),
    layer('client-knows-operations', '^src/client', ['^src/(client|http|resources|domain)']),
    layer('platform-implements-ports', '^src/platform', [
      '^src/(platform|ports|domain|concurrency)',
      '^node_modules/',
      '^node:|^(crypto|os|net|http|https|dns|events)$',
    ]),
    layer('adapters-use-the-front-door', '^adapters/([^/]+)', [
      '^adapters/$1',
      '^adapters/(node|memory|kysely|fabric|model|explorer)/index.ts$',
      '^adapters/node/(connection-info|http/mount-prefix).ts$',
      '^src/(index|client/(index|untrusted)|model/index|policy|storage|version).ts$',
      '^src/concurrency/(call-isolated|fair-capacity|gate|lifetime).ts$',
      '^src/(check-options|domain/arguments/(check-options|nearest)).ts$',
      '^src/domain/(network-of|visible-text).ts$',
      '^node_modules/',
      '^(node:)?[a-z_/]+$',
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
