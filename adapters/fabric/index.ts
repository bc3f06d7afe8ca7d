export type { HeartbeatTimes } from './channel/router-group.ts'
export {
  CONTROL_PROTOCOL,
  type ControlListener,
  type ControlListenerOptions,
  type FabricController,
  openControlListener,
} from './control-listener.ts'
export * as routerSide from './router-side.ts'
