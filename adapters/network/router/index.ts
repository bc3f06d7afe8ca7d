/**
 * An edge router: endpoints connect to it, dial services and host them.
 *
 * @module portcullis/router
 */
export type { Channel, ChannelListener } from '../channel/channel.ts'
export { probeController } from './control/control-channel.ts'
export { enrollRouter, type RouterIdentity } from './control/router-enrollment.ts'
export type { EdgeStranger } from './edge/edge-listener.ts'
export { type OwnRouterOptions, type OwnRouterPorts, openOwnRouter, type RunningRouter } from './own-router.ts'
export { runRouter, type StandaloneRouter, type StandaloneRouterOptions } from './standalone-router.ts'
