/**
 * The control channel of routers.
 *
 * @module portcullis/fabric
 */
export {
  CONTROL_PROTOCOL,
  type ControlListener,
  type ControlListenerOptions,
  type FabricController,
  openControlListener,
} from './control-listener.ts'
export type { HeartbeatTimes } from './router-group.ts'
export * as routerSide from './router-side.ts'
