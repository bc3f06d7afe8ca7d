import type { ApiDocuments } from './apis/documents.ts'
import type { Controller } from './controller/controller.ts'
import type { ControllerOptions } from './controller/controller-options.ts'
import type { ApplyModel } from './controller/create-controller.ts'
import type { Operator, OperatorOptions } from './controller/operator.ts'

// A controller and its parts are loaded when the first function here is called. Many programs import the package
// without making a controller, for example to know its errors, and loading takes more than a tenth of a second.

/**
 * Builds a controller: checks the certificates, fills an empty store with the entities of every controller, and offers
 * all APIs as one function. Rejects with a message that names an unusable option: a certificate that is missing or
 * whose key belongs to another, an address without port, a number out of range.
 *
 * @example
 * const controller = await createController({
 *   storage: await sqliteStorage('portcullis.sqlite'),
 *   address: 'controller.example.org:1280',
 *   pki: openPkiDirectory('pki'),
 *   admin: { username: 'admin', password: 'correct horse battery' },
 * })
 * await serve(controller, { port: 1280 })
 */
export async function createController(options: ControllerOptions): Promise<Controller> {
  const { assembleController } = await import('./controller/create-controller.ts')
  return assembleController(options, applyModel)
}

/** Planning is loaded when a host gives a model. */
async function applyModel(...given: Parameters<ApplyModel>): ReturnType<ApplyModel> {
  const { applyInOneCommit } = await import('./planning/apply-in-one-commit.ts')
  return applyInOneCommit(...given)
}

/**
 * Opens a store for its operator: nothing is served, and nothing is written unless the operator asks for it.
 *
 * @example
 * const operator = await openOperator({ storage: await sqliteStorage('portcullis.sqlite') })
 * await operator.resetAdminPassword({ password: 'correct horse battery' })
 * await operator.close()
 */
export async function openOperator(options: OperatorOptions): Promise<Operator> {
  const { assembleOperator } = await import('./controller/operator.ts')
  return assembleOperator(options)
}

/**
 * Writes the OpenAPI documents from the operations that are served, so that both agree.
 *
 * @example
 * const { management } = await apiDocuments('1.0.0')
 * await writeFile('management.json', JSON.stringify(management))
 */
export async function apiDocuments(version: string): Promise<ApiDocuments> {
  const { writeApiDocuments } = await import('./apis/documents.ts')
  return writeApiDocuments(version)
}

/**
 * Combines the answers of `/metrics` of several processes over one store into one, for a host that serves one address
 * by all of them. Counters and histograms are added. Gauges of a process (connections, circuits, memory) are added; a
 * gauge of the store or of all processes appears once, with its worst value. `ended` are the last answers of processes
 * that have ended: their counters still count, because a sum that falls looks like a restart to Prometheus.
 *
 * @example
 * const addresses = ['http://127.0.0.1:9101/metrics', 'http://127.0.0.1:9102/metrics']
 * const scraped = await Promise.all(addresses.map((url) => fetch(url)))
 * const text = await combineMetrics(await Promise.all(scraped.map((answer) => answer.text())))
 */
export async function combineMetrics(texts: readonly string[], ended: readonly string[] = []): Promise<string> {
  const { combined } = await import('./controller/combined-metrics.ts')
  return combined(texts, ended)
}
