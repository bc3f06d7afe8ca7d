import type { Person } from './world.ts'

/** The instant that the person's API session compares with the one that it knows. */
export async function lastChangeAt({ api }: Person): Promise<string> {
  const { data } = await api.call('GET /current-api-session/service-updates')
  return data.lastChangeAt
}
