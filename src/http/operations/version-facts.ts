/** What a controller tells about itself. */
export interface VersionFacts {
  /** With a leading `v`: what clients read as the controller's version. */
  readonly version: string
  readonly revision: string
  readonly buildDate: string
  readonly runtimeVersion: string
}
