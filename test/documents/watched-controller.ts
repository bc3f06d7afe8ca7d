import type { TestControllerOptions } from 'portcullis/testing'
import { expect, onTestFinished } from 'vitest'
import type { MountedController } from '../contract/http/mount.ts'
import { mount } from '../support/mount.ts'
import type { AnswerChecker } from './answer-checker.ts'

/** A fresh test controller, every answer of which is held against its document when the test is over. */
export async function watchedController(
  checker: AnswerChecker,
  options?: TestControllerOptions,
): Promise<MountedController> {
  const mounted = await mount(options)
  const faults = new Set<string>()
  onTestFinished(() => expect([...faults]).toEqual([]))
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
