/** Versions that a router reports about itself when it connects. */
export interface RouterSoftware {
  readonly version: string
  readonly revision: string
  readonly buildDate: string
  readonly os: string
  readonly arch: string
}

/** The version that routers of this package tell controllers and peers: that of the deployed routers whose messages they understand. */
export const ROUTER_VERSION = 'v2.0.0'

/** The version that controllers of this package tell routers. Some routers check that it is new enough for a message. */
export const CONTROLLER_VERSION = 'v2.0.0'

/** The software of this package as a hello tells it: version, revision, build date, operating system, architecture. */
export function softwareText(version: string, os = 'node', arch = 'any'): string {
  return [version, 'portcullis', '', os, arch].join('|')
}

/** The software that a hello tells. Missing parts are empty. */
export function softwareOf(text: string): RouterSoftware {
  const [version = '', revision = '', buildDate = '', os = '', arch = ''] = text.split('|')
  return { version, revision, buildDate, os, arch }
}
