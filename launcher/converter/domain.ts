/**
 * The libvirt domain as a typed tree, in the form the XML writer takes: `@name` is an attribute, `#text` an element's text, an array repeats its
 * element, `undefined` is left out. Names and values are libvirt's (https://libvirt.org/formatdomain.html), so this file needs no glossary.
 */
export interface Domain {
  '@type': 'kvm' | 'qemu';
  name: string;
  metadata?: Metadata | undefined;
  memory: Bytes;
  maxMemory?: (Bytes & { '@slots': number }) | undefined;
  memoryBacking?: MemoryBacking | undefined;
  vcpu: { '@placement': 'static'; '#text': number };
  vcpus?: { vcpu: VcpuState[] } | undefined;
  iothreads?: number | undefined;
  cputune?: CpuTune | undefined;
  numatune?: NumaTune | undefined;
  sysinfo?: SysInfo | undefined;
  os: OperatingSystem;
  features: Features;
  cpu: Cpu;
  clock?: Clock | undefined;
  on_reboot?: 'restart' | 'destroy' | undefined;
  devices: Devices;
}

/** What one concern contributes. Each key of Domain and Devices belongs to one concern. */
export type DomainPart = Partial<Omit<Domain, 'devices'>> & { devices?: Devices };

/** An element without content. */
export type Flag = '';
export type OnOff = 'on' | 'off';
export type YesNo = 'yes' | 'no';

export interface Bytes {
  '@unit': 'b';
  '#text': number;
}

export interface State {
  '@state': OnOff;
}

export interface Alias {
  '@name': string;
}

export interface Metadata {
  kubevirt: { '@xmlns': string; uid: string };
}

export interface MemoryBacking {
  hugepages?: Flag | { page: { '@size': number; '@unit': 'b'; '@nodeset': number }[] } | undefined;
  source?: { '@type': 'memfd' } | undefined;
  access?: { '@mode': 'shared' } | undefined;
  allocation?: { '@mode': 'immediate' } | undefined;
}

export interface VcpuState {
  '@id': number;
  '@enabled': YesNo;
  '@hotpluggable': YesNo;
}

export interface CpuTune {
  vcpupin: { '@vcpu': number; '@cpuset': string }[];
  emulatorpin?: { '@cpuset': string } | undefined;
  iothreadpin?: { '@iothread': number; '@cpuset': string }[] | undefined;
}

export interface NumaTune {
  memory: { '@mode': 'strict'; '@nodeset': string };
  memnode: { '@cellid': number; '@mode': 'strict'; '@nodeset': number }[];
}

export interface SysInfo {
  '@type': 'smbios';
  system: { entry: SysInfoEntry[] };
  chassis?: { entry: SysInfoEntry[] } | undefined;
}

export interface SysInfoEntry {
  '@name': string;
  '#text': string;
}

export interface OperatingSystem {
  type: { '@arch': string; '@machine': string; '#text': 'hvm' };
  loader?: { '@readonly': YesNo; '@secure': YesNo; '@type': 'pflash'; '#text': string } | undefined;
  nvram?: { '@template': string; '#text': string } | undefined;
  kernel?: string | undefined;
  initrd?: string | undefined;
  cmdline?: string | undefined;
  acpi?: { table: { '@type': 'slic' | 'msdm'; '#text': string }[] } | undefined;
  smbios?: { '@mode': 'sysinfo' } | undefined;
  bootmenu?: { '@enable': YesNo; '@timeout': number } | undefined;
  bios?: { '@useserial': YesNo } | undefined;
}

export interface Features {
  acpi?: Flag | undefined;
  apic?: Flag | undefined;
  smm?: Flag | undefined;
  hyperv?: Hyperv | undefined;
  kvm?: { hidden?: State | undefined; 'hint-dedicated'?: State | undefined } | undefined;
  pvspinlock?: State | undefined;
  pmu?: State | undefined;
  vmport?: State | undefined;
}

export interface Hyperv {
  '@mode'?: 'passthrough' | undefined;
  relaxed?: State | undefined;
  vapic?: State | undefined;
  spinlocks?: (State & { '@retries'?: number | undefined }) | undefined;
  vpindex?: State | undefined;
  runtime?: State | undefined;
  synic?: State | undefined;
  stimer?: (State & { direct?: State | undefined }) | undefined;
  reset?: State | undefined;
  vendor_id?: (State & { '@value'?: string | undefined }) | undefined;
  frequencies?: State | undefined;
  reenlightenment?: State | undefined;
  tlbflush?: (State & { direct?: State | undefined; extended?: State | undefined }) | undefined;
  ipi?: State | undefined;
  evmcs?: State | undefined;
}

export interface Cpu {
  '@mode': 'host-model' | 'host-passthrough' | 'custom';
  model?: string | undefined;
  topology: { '@sockets': number; '@cores': number; '@threads': number };
  feature?: { '@name': string; '@policy'?: string | undefined }[] | undefined;
  numa?: { cell: NumaCell[] } | undefined;
}

export interface NumaCell {
  '@id': number;
  '@cpus': string;
  '@memory': number;
  '@unit': 'b' | 'KiB';
}

export interface Clock {
  '@offset'?: 'utc' | 'timezone' | undefined;
  '@adjustment'?: string | undefined;
  '@timezone'?: string | undefined;
  timer?: Timer[] | undefined;
}

export interface Timer {
  '@name': string;
  '@present'?: YesNo | undefined;
  '@tickpolicy'?: string | undefined;
  '@track'?: string | undefined;
  '@frequency'?: number | undefined;
}

export interface Devices {
  disk?: Disk[] | undefined;
  controller?: Controller[] | undefined;
  interface?: Interface[] | undefined;
  channel?: Channel[] | undefined;
  serial?: Serial[] | undefined;
  console?: Console[] | undefined;
  input?: Input[] | undefined;
  graphics?: Graphics[] | undefined;
  video?: Video[] | undefined;
  sound?: Sound[] | undefined;
  watchdog?: Watchdog[] | undefined;
  tpm?: Tpm[] | undefined;
  rng?: Rng | undefined;
  panic?: { '@model'?: string | undefined }[] | undefined;
  redirdev?: RedirDevice[] | undefined;
  memballoon?: MemBalloon | undefined;
  filesystem?: Filesystem[] | undefined;
  vsock?: { '@model': string; cid: { '@auto': 'no'; '@address': number } } | undefined;
}

export interface Filesystem {
  '@type': 'mount';
  '@accessMode': 'passthrough';
  source: { '@dir': string; '@socket': string };
  target: { '@dir': string };
  driver: { '@type': 'virtiofs'; '@queue': number };
}

export interface PciAddress {
  '@type': 'pci';
  '@domain': string;
  '@bus': string;
  '@slot': string;
  '@function': string;
}

export interface DriveAddress {
  '@type': 'drive';
  '@controller': number;
  '@bus': number;
  '@unit': number;
}

/** Path of a file or of a block device. */
export interface DiskSource {
  '@file'?: string | undefined;
  '@dev'?: string | undefined;
  '@name'?: string | undefined;
}

export interface Disk {
  '@device': 'disk' | 'cdrom' | 'lun';
  '@type': 'file' | 'block';
  '@model'?: string | undefined;
  driver: DiskDriver;
  source?: DiskSource | undefined;
  backingStore?: { '@type': 'file' | 'block'; format: { '@type': string }; source: DiskSource } | undefined;
  target: { '@dev': string; '@bus': string; '@tray'?: string | undefined };
  readonly?: Flag | undefined;
  shareable?: Flag | undefined;
  serial?: string | undefined;
  blockio?: BlockIo | undefined;
  boot?: { '@order': number } | undefined;
  alias: Alias;
  address?: PciAddress | DriveAddress | undefined;
}

export interface BlockIo {
  '@logical_block_size'?: number | undefined;
  '@physical_block_size'?: number | undefined;
  '@discard_granularity'?: number | undefined;
}

export interface DiskDriver {
  '@name': 'qemu';
  '@type': 'raw' | 'qcow2';
  '@cache'?: string | undefined;
  '@io'?: string | undefined;
  '@error_policy': string;
  '@discard'?: 'unmap' | undefined;
  '@queues'?: number | undefined;
  '@iothread'?: number | undefined;
  '@iommu'?: 'on' | undefined;
  iothreads?: { iothread: { '@id': number }[] } | undefined;
}

export interface Controller {
  '@type': 'usb' | 'scsi' | 'virtio-serial' | 'pci';
  '@index': number;
  '@model': string;
  driver?: { '@iothread'?: number; '@queues'?: number; '@iommu'?: 'on' } | undefined;
  pcihole64?: { '@unit': 'KiB'; '#text': number } | undefined;
  address?: PciAddress | undefined;
}

export interface Interface {
  '@type': 'ethernet' | 'vhostuser';
  source?: { '@dev': string } | undefined;
  backend?: { '@type': 'passt'; '@logFile': string } | undefined;
  portForward?: { '@proto': string; range?: { '@start': number }[] | undefined }[] | undefined;
  mac?: { '@address': string } | undefined;
  target?: { '@dev': string; '@managed': YesNo } | undefined;
  model: { '@type': string };
  driver?: { '@name': 'vhost'; '@queues'?: number; '@iommu'?: 'on' } | undefined;
  mtu?: { '@size': number } | undefined;
  link?: { '@state': 'down' } | undefined;
  boot?: { '@order': number } | undefined;
  rom?: { '@enabled': YesNo } | undefined;
  acpi?: { '@index': number } | undefined;
  alias: Alias;
  address?: PciAddress | undefined;
}

export interface Channel {
  '@type': 'unix';
  source?: UnixSource | undefined;
  target: { '@type': 'virtio'; '@name': string };
}

export interface UnixSource {
  '@mode': 'bind';
  '@path': string;
}

export interface Serial {
  '@type': 'unix';
  source: UnixSource;
  log?: { '@file': string; '@append': OnOff } | undefined;
  target: { '@port': number };
}

export interface Console {
  '@type': 'pty';
  target: { '@type': 'serial'; '@port': number };
}

export interface Input {
  '@type': string;
  '@bus': string;
  '@model'?: 'virtio' | undefined;
  alias?: Alias | undefined;
  address?: PciAddress | undefined;
}

export interface Graphics {
  '@type': 'vnc';
  listen: { '@type': 'socket'; '@socket': string };
}

export interface Video {
  model: { '@type': string | undefined; '@heads': number; '@vram'?: number | undefined };
}

export interface Sound {
  '@model': string;
  alias: Alias;
}

export interface Watchdog {
  '@model': 'i6300esb' | 'diag288';
  '@action'?: string | undefined;
  alias: Alias;
  address?: PciAddress | undefined;
}

export interface Tpm {
  '@model': 'tpm-tis' | 'tpm-crb';
  backend: { '@type': 'emulator'; '@version': '2.0'; '@persistent_state'?: YesNo | undefined };
}

export interface Rng {
  '@model': string;
  backend: { '@model': 'random'; '#text': string };
  address?: PciAddress | undefined;
}

export interface RedirDevice {
  '@bus': 'usb';
  '@type': 'unix';
  source: UnixSource;
}

export interface MemBalloon {
  '@model': string;
  '@freePageReporting'?: OnOff | undefined;
  stats?: { '@period': number } | undefined;
  driver?: { '@iommu': 'on' } | undefined;
  address?: PciAddress | undefined;
}
