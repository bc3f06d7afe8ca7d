import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestController } from 'portcullis/testing'
import network from '../shared/network.ts'
import { payroll } from './app.ts'

test('payroll answers the laptop, and is not there for a visitor', async () => {
  const net = await createTestController({ model: network, router: true })
  await net.as('app-server').host('payroll', payroll)
  const response = await net.as('laptop').fetch('http://payroll/')
  assert.equal(await response.text(), 'salaries, for laptop')
  const visitor = await net.enroll('visitor')
  await assert.rejects(visitor.dial('payroll'), { code: 'SERVICE_NOT_FOUND' })
  await net.close()
})
