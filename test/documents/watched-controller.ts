import type { TestControllerOptions } from 'portcullis/testing'
import { expect, onTestFinished } from 'vitest'
import type { MountedController } from '../contract/http/mount.ts'
import { listenToWrites } from '../support/heard-changes.ts'
import { mount } from '../support/mount.ts'
import type { AnswerChecker } from './answer-checker.ts'

/**
 * A fresh test controller, every answer of which is held against its document when the test is over. What the storage tells of
 * is held against what a follower of writes heard: no operation changes anything behind the followers' backs.
 */
export async function watchedController(
  checker: AnswerChecker,
  options?: TestControllerOptions,
): Promise<MountedController> {
  const mounted = await mount(options)
  const faults = new Set<string>()
  onTestFinished(() => expect([...faults]).toEqual([]))
  const changes = await listenToWrites(mounted.controller)
  onTestFinished(async () => {
    const { heard, told } = await changes()
    expect(heard).toEqual(told)
  })
  return {
    ...mounted,
    fetch: async (path, request, client) => {
      const response = await mounted.fetch(path, request, client)
      const asked = new Request(`${mounted.url}${path}`, { method: request?.method ?? 'GET' })
      for (const fault of await checker.faultsOf(asked, response.clone())) faults.add(fault)
      return response
    },
  }
}
