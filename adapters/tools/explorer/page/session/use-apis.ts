import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Apis } from '../api/apis.ts'

/** The APIs of the open session, for everything that is shown in it. */
export const SessionApis = createContext<Apis | undefined>(undefined)

/** The APIs of the session in which a component is shown. */
export function useApis(): Apis {
  const apis = useContext(SessionApis)
  if (apis === undefined) throw new Error('Nothing of the network is shown without a session.')
  return apis
}
