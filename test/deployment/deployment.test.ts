import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Instrument } from 'portcullis'
import { createTestController } from 'portcullis/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { variableName } from '../../adapters/tools/cli/command-line/options.ts'
import { configSchema, FILE_OPTIONS } from '../../adapters/tools/cli/commands/serve/config-file.ts'
import { SERVE_OPTIONS } from '../../adapters/tools/cli/commands/serve/option-declarations.ts'
// Internals: the names of all gauges and counters, so that none is left out.
import { countEvents, GAUGES } from '../../src/network/gauges.ts'
import { createPrometheusMetrics } from '../../src/platform/prometheus-metrics.ts'
import { withSharedPki } from '../support/shared-pki.ts'

const folder = join(import.meta.dirname, '../../examples/deployment')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

/** Every figure that a controller may show, as Prometheus spells it. */
async function metricNames(): Promise<ReadonlySet<string>> {
  const instruments: Instrument[] = [...GAUGES]
  const metrics = {
    record: (instrument: Instrument) => void instruments.push(instrument),
    observe: () => () => undefined,
  }
  // Each event is told once, and what counts it tells its instrument.
  const events = {
    on: (_name: string, tell: (event: never) => void) => {
      tell({} as never)
      return () => undefined
    },
  }
  countEvents(events, metrics)
  const shown = createPrometheusMetrics()
  for (const instrument of instruments) shown.record(instrument, 1)
  const controller = await createTestController(await withSharedPki({ probes: true }))
  onTestFinished(() => controller.close())
  await controller.admin.call('GET /services')
  const live = await controller.fetch(new Request('https://controller.test/metrics'))
  const samples = `${await shown.text()}${await live.text()}`.matchAll(/^([a-z_]+)(?:\{[^}]*\})? /gm)
  return new Set([...samples].map(([, name = '']) => name))
}

/** The figures that an expression asks for; functions and words of the language are none of ours. */
function metricsIn(expression: string): readonly string[] {
  return [...expression.matchAll(/\b(?:portcullis|http_server)_[a-z_]+/g)].map(([name]) => name)
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

describe('the alerts and the dashboard', () => {
  it('ask for figures that a controller shows', async () => {
    const known = await metricNames()
    const { groups }: Rules = parse(read('alerts.yaml'))
    const rules = groups.flatMap((group) => group.rules.map(({ expr }) => expr))
    const { panels }: { panels: readonly { targets: readonly { expr: string }[] }[] } = JSON.parse(
      read('grafana-dashboard.json'),
    )
    const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    const asked = [...rules, ...shown].flatMap(metricsIn)
    expect(new Set(asked).size).toBeGreaterThan(15)
    expect(asked.filter((name) => !known.has(name))).toEqual([])
  })

  const promtool = spawnSync('promtool', ['--version']).status === 0
  it.runIf(promtool)('are rules that Prometheus takes', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', join(folder, 'alerts.yaml')])
    expect(`${stdout}${stderr}`).toContain('SUCCESS')
    expect(status).toBe(0)
  })
})

describe('the examples of deployment', () => {
  it('name variables and options that there are', () => {
    const options = new Set(Object.keys(SERVE_OPTIONS))
    const variables = new Set(Object.keys(SERVE_OPTIONS).map(variableName))
    variables.add('PORTCULLIS_ADMIN_USERNAME').add('PORTCULLIS_ADMIN_PASSWORD')
    for (const file of ['Containerfile', 'kubernetes.yaml', 'portcullis.service']) {
      // Comments speak of other commands, and of other programs.
      const text = read(file).replaceAll(/^\s*#.*$/gm, '')
      const named = [...text.matchAll(/PORTCULLIS_[A-Z_]+/g)].map(([name]) => name)
      expect(
        named.filter((name) => !variables.has(name)),
        file,
      ).toEqual([])
      // Of the container file, the command of the program alone.
      const commands = text.split('\n').filter((line) => /serve/.test(line))
      const given = commands.flatMap((line) => [...line.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => name))
      expect(given.length, file).toBeGreaterThan(0)
      expect(
        given.filter((name) => !options.has(name)),
        file,
      ).toEqual([])
    }
  })

  it('keep a controller in a cluster from root, from writing, and from going all at once', () => {
    const documents = parseAllDocuments(read('kubernetes.yaml')).map((document) => document.toJS())
    expect(documents.map(({ kind }) => kind)).toEqual(['Deployment', 'PodDisruptionBudget', 'Service'])
    const [deployment, budget] = documents
    const { spec } = deployment.spec.template
    const [container] = spec.containers
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(budget.spec.minAvailable).toBeLessThan(deployment.spec.replicas)
    const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet.path)
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz'])
  })

  it('have a schema of the file of options that is level with the options', () => {
    expect(JSON.parse(read('config.schema.json'))).toEqual(JSON.parse(JSON.stringify(configSchema())))
    const example = parse(read('portcullis.yaml'))
    expect(Object.keys(example).filter((name) => !FILE_OPTIONS.has(name))).toEqual([])
  })
})
