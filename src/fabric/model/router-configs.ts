import type { ModelEntity, ModelEvent } from '../../facts/fabric/messages/index.ts'

type ConfigEntity = Extract<ModelEntity, { type: 'config' }>

/** The configs and the routers that changed in a step of the model. */
export interface ChangedConfigs {
  readonly configIds: ReadonlySet<string>
  readonly routerIds: ReadonlySet<string>
}

/**
 * The configs by which routers are set up, such as where they listen for links. A config goes only to the routers that name it, because no
 * other router needs it.
 */
export class RouterConfigs {
  readonly #configs = new Map<string, ConfigEntity>()
  /** The config ids of each router that names any. */
  readonly #named = new Map<string, readonly string[]>()
  #changed = { configIds: new Set<string>(), routerIds: new Set<string>() }

  /** A config was created, changed or deleted. */
  putConfig(id: string, config: ConfigEntity | undefined): void {
    if (this.#configs.get(id)?.dataJson === config?.dataJson) return
    if (config === undefined) this.#configs.delete(id)
    else this.#configs.set(id, config)
    this.#changed.configIds.add(id)
  }

  /** A router names other configs now, or is gone. */
  putRouter(id: string, configIds: readonly string[] = []): void {
    if ((this.#named.get(id) ?? []).join() === configIds.join()) return
    if (configIds.length === 0) this.#named.delete(id)
    else this.#named.set(id, configIds)
    this.#changed.routerIds.add(id)
  }

  /** The changes since the last call; undefined without changes. */
  takeChanges(): ChangedConfigs | undefined {
    const changed = this.#changed
    if (changed.configIds.size + changed.routerIds.size === 0) return undefined
    this.#changed = { configIds: new Set(), routerIds: new Set() }
    return changed
  }

  /**
   * The events of a router's configs: all of them, or only the changed configs. The router drops a config by itself when its record no
   * longer names it.
   */
  eventsFor(routerId: string, changed?: ChangedConfigs): readonly ModelEvent[] {
    const named = this.#named.get(routerId) ?? []
    const isMeant = (id: string) =>
      changed === undefined || changed.routerIds.has(routerId) || changed.configIds.has(id)
    return named.filter(isMeant).flatMap((id) => {
      const entity = this.#configs.get(id)
      return entity === undefined ? [] : [{ action: 'create', entity } as const]
    })
  }
}
