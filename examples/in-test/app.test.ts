import express from 'express'
import { createTestController, type RoutedTestController } from 'portcullis/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import network from './network.ts'

/** The app under test: it knows who calls, and nothing of networks. */
const wiki = express()
wiki.get('/', (request, response) => response.send(`welcome, ${request.caller?.name}`))

let net: RoutedTestController

beforeEach(async () => {
  net = await createTestController({ model: network, router: true })
  await net.as('server').host('wiki', wiki)
})
afterEach(() => net.close())

describe('the wiki', () => {
  it('welcomes staff from managed devices', async () => {
    const laptop = net.as('laptop')
    await laptop.report({ domain: 'corp.example' })
    expect(await (await laptop.fetch('http://wiki/')).text()).toBe('welcome, laptop')
  })

  it('is out of reach from other devices, and for visitors it is not there', async () => {
    await expect(net.as('laptop').dial('wiki')).rejects.toMatchObject({ code: 'POSTURE_FAILED' })
    await expect(net.as('visitor').dial('wiki')).rejects.toMatchObject({ code: 'SERVICE_NOT_FOUND' })
  })

  it('ends connections that are open when a device leaves the domain', async () => {
    const laptop = net.as('laptop')
    await laptop.report({ domain: 'corp.example' })
    const connection = await laptop.dial('wiki')
    connection.on('error', () => undefined)
    const closed = new Promise((resolve) => connection.once('close', resolve))
    await laptop.report({ domain: 'home' })
    await closed
  })
})
