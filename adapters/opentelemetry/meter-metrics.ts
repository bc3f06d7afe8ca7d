import type { Attributes, Meter, ObservableGauge } from '@opentelemetry/api'
import type { Instrument, Metrics } from '../../src/index.ts'

type Recorder = (value: number, attributes?: Attributes) => void

/** Gives figures on to a meter. Instruments are made when they are first needed. */
export function meterMetrics(meter: Meter): Metrics {
  const recorders = new Map<string, Recorder>()

  function recorderOf(instrument: Instrument): Recorder {
    const recorder = recorders.get(instrument.name) ?? newRecorder(meter, instrument)
    recorders.set(instrument.name, recorder)
    return recorder
  }

  return {
    record: (instrument, value, attributes) => recorderOf(instrument)(value, attributes),
    observe: (instruments, read) => {
      const gauges = new Map<string, ObservableGauge>()
      for (const { name, unit, description } of instruments) {
        gauges.set(name, meter.createObservableGauge(name, { unit, description }))
      }
      const observables = [...gauges.values()]
      const callback: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
        for (const { instrument, value, attributes } of await read()) {
          const gauge = gauges.get(instrument.name)
          if (gauge !== undefined) result.observe(gauge, value, attributes)
        }
      }
      meter.addBatchObservableCallback(callback, observables)
      return () => meter.removeBatchObservableCallback(callback, observables)
    },
  }
}

function newRecorder(meter: Meter, { name, kind, unit, description, boundaries }: Instrument): Recorder {
  const options = { unit, description }
  if (kind === 'histogram') {
    const advice = boundaries === undefined ? {} : { advice: { explicitBucketBoundaries: [...boundaries] } }
    const histogram = meter.createHistogram(name, { ...options, ...advice })
    return (value, attributes) => histogram.record(value, attributes)
  }
  const sum = kind === 'counter' ? meter.createCounter(name, options) : meter.createUpDownCounter(name, options)
  return (value, attributes) => sum.add(value, attributes)
}
