/** What a controller tells about itself. */
export interface VersionFacts {
  /** With a leading `v`: what clients read as the controller's version. */
  readonly version: string
  readonly revision: string
  /** RFC 3339. */
  readonly buildDate: string
  readonly runtimeVersion: string
}
