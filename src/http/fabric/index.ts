/**
 * The fabric API, to be read: the data plane as this process knows it. The exports are its rows; what is not exported is
 * not served.
 */
export { circuitOperations } from './circuits.ts'
export { linkOperations } from './links.ts'
export { fabricRouterOperations } from './routers.ts'
export { fabricServices } from './services.ts'
export { fabricTerminators } from './terminators.ts'
