/** The version that routers of this package tell controllers and peers: that of the deployed routers whose messages they understand. */
export const ROUTER_VERSION = 'v2.0.0'

/** The version that controllers of this package tell routers. Some routers check that it is new enough for a message. */
export const CONTROLLER_VERSION = 'v2.0.0'
