/** The options and the operations of a controller, for the test kit: it checks the first, and names the second. */

export { knownRoutes, operationAt, type Route } from './apis/route-finder.ts'
export { type Cancel, type Runtime, simulateRuntime } from './concurrency/process-runtime.ts'
export { CONTROLLER_OPTIONS } from './controller/option-shapes.ts'
