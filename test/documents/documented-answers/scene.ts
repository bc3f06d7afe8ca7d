import type { TestControllerOptions } from 'portcullis/testing'
import type { MountedController } from '../../contract/http/mount.ts'

/** Opens a controller whose answers are watched. */
export type Open = (options?: TestControllerOptions) => Promise<MountedController>

/** Somebody brings a controller to give answers of all sorts. */
export type Scene = (open: Open) => Promise<void>

export const LATER = '2030-01-01T00:00:00.000Z'
