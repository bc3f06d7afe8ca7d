import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestController } from 'portcullis/testing'
import network from './network.ts'

test('staff dial payroll, and a visitor reaches nothing', async () => {
  const net = await createTestController({ model: network })
  await net.enroll('visitor')
  assert.deepEqual(await net.reach('laptop'), { dial: ['payroll'], bind: [] })
  assert.deepEqual(await net.reach('visitor'), { dial: [], bind: [] })
  await net.close()
})
